import Foundation

/// How many.
public let limit = 8
var shared: Pool<Int>? = nil
typealias Reply<T> = Result<T, Error>

/// Gives.
public protocol Source: AnyObject {
    associatedtype Item
    var name: String { get }
    func next() -> Item?
}

/// A pool.
@available(iOS 13, *)
public final class Pool<T: Hashable>: Base, Source {
    private let size: Int
    var length: Int { return 0 }
    static let shared = Pool()

    init(size: Int) { self.size = size }
    deinit {}

    /// Takes one.
    @discardableResult
    public func acquire(
        wait: Bool = true
    ) async throws -> T? {
        func inner() {}
        return nil
    }

    subscript(i: Int) -> T { fatalError() }
    static func == (a: Pool, b: Pool) -> Bool { true }
    struct Node { func touch() {} }
}

enum State { case open, closed; func flip() -> State { .open } }
struct Point { var x = 0; mutating func move() {} }
actor Worker { func run() async {} }

extension Pool: CustomStringConvertible where T: Equatable {
    var description: String { "" }
    func drain() {}
}

func helper(_ x: Int) -> Int { x }
