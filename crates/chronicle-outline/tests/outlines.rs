//! What is found in one small file of each language.

use chronicle_outline::outline;

/// The outline as a table: lines, name line, kind, qualified name, signature.
fn table(path: &str, text: &[u8]) -> String {
    let outline = outline(path, text).expect("its language has a grammar");
    let mut table = format!("{:?}{}\n", outline.language, if outline.is_partial { ", partial" } else { "" });
    for item in &outline.items {
        table.push_str(&format!(
            "{:>7} {:>3} {:<11} {} | {}\n",
            item.lines.to_string(),
            item.name_line,
            item.kind,
            item.qualified,
            item.signature
        ));
    }
    table
}

macro_rules! outline_of {
    ($file:literal) => {
        table($file, include_bytes!(concat!("corpus/", $file)))
    };
}

#[test]
fn rust() {
    insta::assert_snapshot!(outline_of!("pool.rs"), @r##"
    Rust
        5:6   6 const       LIMIT | pub const LIMIT: usize
        7:7   7 variable    STARTED | static STARTED: u64
      11:15  13 struct      Pool | pub struct Pool<T>
      17:17  17 enum        State | pub enum State
      18:18  18 union       Word | pub union Word
      19:19  19 type        Reply | pub type Reply<T>
      21:27  22 trait       Source | pub trait Source
      23:23  23 const       Source::NAME | const NAME: &'static str
      24:24  24 type        Source::Item | type Item
      25:25  25 method      Source::next | fn next(&mut self) -> Option<Self::Item>
      26:26  26 method      Source::skip | fn skip(&mut self)
      29:41  29 impl        Pool | impl<T: Clone> Pool<T>
      30:40  32 method      Pool::acquire | pub fn acquire(&self, wait: bool) -> Option<T> where T: Clone
      37:37  37 function    Pool::acquire::inner | fn inner()
      43:45  43 impl        Pool | impl<T> fmt::Display for Pool<T>
      44:44  44 method      Pool::fmt | fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result
      47:49  47 impl        db::Pool | impl<'a, T> Source for &'a mut db::Pool<T>
      48:48  48 method      db::Pool::next | fn next(&mut self) -> Option<T>
      51:53  51 macro       pool | macro_rules! pool
      55:58  55 module      inner | mod inner
      56:56  56 function    inner::deep | pub async unsafe extern "C" fn deep()
      57:57  57 function    inner::after | pub fn after()
      61:61  61 function    outside | fn outside(x: i32) -> i32
    "##);
}

#[test]
fn typescript() {
    insta::assert_snapshot!(outline_of!("pool.ts"), @r##"
    TypeScript
        1:2   2 const       LIMIT | export const LIMIT: number
        3:3   3 type        Reply | export type Reply<T>
        5:9   6 interface   Source | export interface Source<T> extends Base
        8:8   8 method      Source.next | next(): T
      11:11  11 enum        State | export enum State
      12:12  12 enum        Flag | declare const enum Flag
      14:14  14 prototype   pick | function pick(a: string): string
      15:15  15 prototype   pick | function pick(a: number): number
      16:18  16 function    pick | function pick(a: any): any
      20:44  22 class       Pool | export abstract class Pool<T> implements Source<T>
      23:23  23 property    Pool.shared | static shared
      24:24  24 property    Pool.free | private free: T[]
      25:27  25 method      Pool.onClose | onClose = async (why: string): Promise<void>
      29:29  29 method      Pool.constructor | constructor(private readonly size: number)
      31:31  31 method      Pool.close | abstract close(): void
      33:39  35 method      Pool.acquire | async acquire(wait: boolean): Promise<T>
      36:36  36 function    Pool.acquire.helper | const helper = (x: number)
      37:37  37 function    Pool.acquire.nested | function nested()
      41:41  41 method      Pool.length | get length(): number
      42:42  42 method      Pool.length | set length(n: number)
      43:43  43 method      Pool.#secret | static #secret()
      46:48  46 module      Db.Inner | export namespace Db.Inner
      47:47  47 function    Db.Inner.open | export function open(): void
      50:52  50 module      other | declare module "other"
      51:51  51 prototype   other.outside | function outside(): void
      54:54  54 function    main | export default function main()
      56:58  56 function    compose | export const compose = <A, B>(f: (a: A) => B)
      60:64  60 const       routes | export const routes
      61:61  61 method      routes.index | index(req: Request)
      62:62  62 method      routes.show | show: (req: Request)
      63:63  63 property    routes.deep | deep
      63:63  63 method      routes.deep.leaf | leaf: function ()
    "##);
}

#[test]
fn tsx() {
    insta::assert_snapshot!(outline_of!("view.tsx"), @r##"
    TSX
        1:1   1 interface   Props | export interface Props
        3:7   4 function    Title | export const Title: React.FC<Props> = ({ title })
        5:5   5 function    Title.onClick | const onClick = ()
       9:13   9 class       View | export default class View extends React.Component<Props>
      10:12  10 method      View.render | render()
      15:15  15 function    List | function List<T,>({ items }: { items: T[] })
    "##);
}

#[test]
fn javascript() {
    insta::assert_snapshot!(outline_of!("pool.js"), @r##"
    JavaScript
        3:3   3 const       LIMIT | const LIMIT
        4:4   4 variable    one | var one
        4:4   4 function    two | var one = 1, two = function ()
       6:20   9 class       Pool | class Pool extends Base
      10:10  10 property    Pool.shared | static shared
      11:11  11 property    Pool.#free | #free
      12:14  12 method      Pool.onClose | onClose = ()
      15:15  15 method      Pool.constructor | constructor(size)
      16:16  16 method      Pool.of | static of(...items)
      17:17  17 method      Pool.drain | async *drain()
      18:18  18 method      Pool.size | get size()
      19:19  19 method      Pool.quoted name | 'quoted name'()
      22:26  23 function    makePool | function makePool(size)
      24:24  24 function    makePool.inner | function inner()
      28:28  28 function    stream | async function* stream()
      30:32  30 function    open | module.exports.open = function open(path)
      33:33  33 function    close | exports.close = ()
      34:34  34 method      Pool.reset | Pool.prototype.reset = function ()
      35:35  35 method      helper | helper()
      35:35  35 method      other | other: function ()
      37:40  37 const       api | const api
      38:38  38 method      api.get | get(req)
      39:39  39 method      api.post | post: async (req)
      42:42  42 class       Last | export default class Last
      43:45  43 class       Anonymous | export const Anonymous = class
      44:44  44 method      Anonymous.run | run()
    "##);
}

#[test]
fn python() {
    insta::assert_snapshot!(outline_of!("pool.py"), @r##"
    Python
        5:5   5 variable    LIMIT | LIMIT
        6:6   6 variable    names | names: list[str]
       9:32  11 class       Pool | class Pool(Base, metaclass=Meta)
      14:14  14 variable    Pool.size | size: int
      16:26  19 method      Pool.acquire | def acquire( self, wait: bool = True, ) -> int
      24:25  24 function    Pool.acquire.inner | def inner()
      28:29  29 method      Pool.open | async def open(path)
      31:32  31 class       Pool.Meta | class Meta
      32:32  32 method      Pool.Meta.deep | def deep(self)
      35:36  35 function    stream | async def stream()
      39:43  39 function    decorate | def decorate(f)
      40:42  41 function    decorate.wrapper | def wrapper(*args)
      46:46  46 function    double | double = lambda x
      49:49  49 function    conditional | def conditional()
    "##);
}

#[test]
fn go() {
    insta::assert_snapshot!(outline_of!("pool.go"), @r##"
    Go
        6:7   7 const       Limit | const Limit
      10:11  11 const       A | A
      12:12  12 const       B | B
      15:15  15 variable    shared | var shared, other
      15:15  15 variable    other | var shared, other
      17:17  17 variable    once | once int
      20:23  21 struct      Pool | type Pool[T any] struct
      25:29  25 interface   Source | type Source interface
      26:27  27 method      Source.Next | Next() (int, error)
      32:32  32 type        ID | ID int
      33:33  33 type        Alias | Alias
      36:41  37 function    New | func New[T any](n int) *Pool[T]
      43:48  44 method      Pool.Acquire | func (p *Pool[T]) Acquire( wait bool, ) (T, error)
      50:50  50 method      ID.String | func (ID) String() string
    "##);
}

#[test]
fn java() {
    insta::assert_snapshot!(outline_of!("Pool.java"), @r##"
    Java
       5:41   7 class       Pool | public abstract class Pool<T extends Number> extends Base implements Source<T>
        8:8   8 property    Pool.LIMIT | public static final int LIMIT
        8:8   8 property    Pool.OTHER | public static final int LIMIT = 8, OTHER
        9:9   9 property    Pool.free | private final List<T> free
      13:14  14 constructor Pool.Pool | public Pool(int size)
      16:22  18 method      Pool.acquire | public <R> T acquire(boolean wait, R hint) throws Exception
      20:20  20 method      Pool.acquire.run | public void run()
      24:24  24 method      Pool.acquire | T acquire()
      26:26  26 method      Pool.close | abstract void close()
      28:28  28 interface   Pool.Source | interface Source<T>
      28:28  28 method      Pool.Source.next | T next()
      28:28  28 method      Pool.Source.skip | default void skip()
      30:33  30 enum        Pool.State | enum State
      31:31  31 method      Pool.State.x | void x()
      32:32  32 method      Pool.State.flip | State flip()
      35:38  35 struct      Pool.Point | record Point(int x, int y)
      36:36  36 constructor Pool.Point.Point | Point
      37:37  37 method      Pool.Point.norm | double norm()
      40:40  40 annotation  Pool.Marker | @interface Marker
      40:40  40 method      Pool.Marker.value | String value() default ""
      43:43  43 class       Second | class Second
    "##);
}

#[test]
fn kotlin() {
    insta::assert_snapshot!(outline_of!("Pool.kt"), @r##"
    Kotlin
        5:6   6 const       LIMIT | const val LIMIT
        7:7   7 variable    shared | var shared: Pool<Int>?
        8:8   8 type        Reply | typealias Reply<T>
      10:39  12 class       Pool | abstract class Pool<T>(private val size: Int) : Base(), Closeable
      13:13  13 property    Pool.free | private val free
      14:15  14 property    Pool.length | val length: Int get()
      17:17  17 constructor Pool.constructor | constructor() : this(1)
      21:28  23 method      Pool.acquire | suspend fun <R> acquire( wait: Boolean, ): T?
      26:26  26 function    Pool.acquire.inner | fun inner()
      30:30  30 method      Pool.next | abstract fun next(): T
      32:34  32 object      Pool.Companion | companion object
      33:33  33 method      Pool.Companion.open | fun open(path: String)
      36:38  36 class       Pool.Cursor | inner class Cursor
      37:37  37 method      Pool.Cursor.move | fun move()
      41:45  41 class       Other | class Other
      42:44  42 object      Other.Named | companion object Named
      43:43  43 method      Other.Named.close | fun close()
      47:49  47 interface   Source | sealed interface Source
      48:48  48 method      Source.give | fun give(): Int
      50:50  50 class       Point | data class Point(val x: Int, val y: Int)
      51:54  51 enum        State | enum class State(val n: Int)
      53:53  53 method      State.flip | fun flip()
      55:57  55 object      Registry | object Registry
      56:56  56 method      Registry.find | fun find()
      58:58  58 class       Marker | annotation class Marker
      60:61  61 method      Pool.drain | fun <T> Pool<T>.drain(): Int
      62:63  62 const       half | val String.half: String get()
      64:64  64 method      Int.plus2 | infix fun Int.plus2(o: Int): Int
    "##);
}

#[test]
fn c() {
    insta::assert_snapshot!(outline_of!("pool.c"), @r##"
    C
        4:4   4 macro       LIMIT | #define LIMIT
        5:6   5 macro       MAX | #define MAX(a, b)
        8:8   8 type        id_t2 | typedef unsigned int id_t2, *id_p
        9:9   9 type        callback | typedef int (*callback)(int, void *)
      11:15  12 struct      pool | struct pool
      17:19  19 type        node_t | typedef struct node
      17:19  17 struct      node | struct node
      21:21  21 type        anon_t | typedef struct
      23:23  23 enum        state | enum state
      24:24  24 union       word | union word
      26:26  26 variable    counter | static int counter
      27:27  27 variable    name | extern const char *name
      28:28  28 variable    table | int table[3]
      30:30  30 prototype   pool_open | int pool_open(const char *path)
      32:37  34 function    pool_acquire | static inline struct pool * pool_acquire(struct pool *p, int wait)
      39:42  39 function    pool_hook | int (*pool_hook(int which))(int)
      45:45  45 function    pool_close | void pool_close(void)
      47:47  47 function    pool_close2 | void pool_close2(void)
      50:55  50 function    old_style | int old_style(a, b) int a; int b
    "##);
}

#[test]
fn cpp() {
    insta::assert_snapshot!(outline_of!("pool.cpp"), @r##"
    C++
        2:2   2 macro       POOL_API | #define POOL_API
       4:35   4 module      db | namespace db
       5:34   5 module      db::v1 | inline namespace v1
        7:7   7 variable    db::v1::kLimit | constexpr int kLimit
        8:8   8 type        db::v1::Id | using Id
        9:9   9 type        db::v1::Vec | template <typename T> using Vec
      10:10  10 type        db::v1::Old | typedef int Old
      12:12  12 enum        db::v1::State | enum class State : int
      14:32  16 class       db::v1::Pool | template <typename T> class Pool : public Base
      18:18  18 method      db::v1::Pool::Pool | explicit Pool(int size) : size_(size)
      19:19  19 prototype   db::v1::Pool::~Pool | virtual ~Pool()
      20:21  21 prototype   db::v1::Pool::acquire | T* acquire(bool wait) const noexcept
      22:22  22 method      db::v1::Pool::open | static Pool* open(const char* path)
      23:23  23 method      db::v1::Pool::operator= | Pool& operator=(const Pool& other) = default
      24:24  24 method      db::v1::Pool::operator== | bool operator==(const Pool& o) const
      25:25  25 method      db::v1::Pool::operator bool | operator bool() const
      26:26  26 method      db::v1::Pool::map | template <typename R> R map(R r)
      27:27  27 prototype   db::v1::Pool::close | virtual void close() = 0
      28:28  28 struct      db::v1::Pool::Node | struct Node
      28:28  28 method      db::v1::Pool::Node::touch | void touch()
      37:39  37 module      a::b | namespace a::b
      38:38  38 function    a::b::far | void far()
      41:46  43 method      db::Pool::acquire | template <typename T> T* db::Pool<T>::acquire(bool wait) const noexcept
      48:48  48 method      db::Pool::~Pool | db::Pool<int>::~Pool()
      49:49  49 method      Counter::get | int& Counter::get()
      50:50  50 method      Counter::operator< | bool Counter::operator<(const Counter& o) const
      51:51  51 method      Counter::Counter | Counter::Counter() : x(1)
      53:53  53 function    special | template <> void special<int>()
      56:56  56 function    hidden | int hidden()
      60:60  60 function    c_function | int c_function(void)
      63:63  63 variable    names | static const char* const names[]
      64:64  64 function    trailing | auto trailing() -> int
      66:66  66 type        Small | template <typename T> concept Small
    "##);
}

#[test]
fn c_sharp() {
    insta::assert_snapshot!(outline_of!("Pool.cs"), @r##"
    C#
       3:44   3 module      Db.Inner | namespace Db.Inner
       5:37   7 class       Db.Inner.Pool | public sealed partial class Pool<T> : Base, ISource<T> where T : class
        9:9   9 property    Db.Inner.Pool.Limit | public const int Limit
      10:10  10 property    Db.Inner.Pool.size | private readonly int size
      11:11  11 property    Db.Inner.Pool.Closed | public event EventHandler Closed
      13:14  14 property    Db.Inner.Pool.Length | public int Length
      15:15  15 property    Db.Inner.Pool.Twice | public int Twice
      16:16  16 property    Db.Inner.Pool.this | public T this[int i]
      18:18  18 constructor Db.Inner.Pool.Pool | public Pool(int size) : base(size)
      19:19  19 method      Db.Inner.Pool.~Pool | ~Pool()
      21:28  23 method      Db.Inner.Pool.AcquireAsync | public async Task<T> AcquireAsync<R>( bool wait)
      26:26  26 function    Db.Inner.Pool.AcquireAsync.Local | int Local(int x)
      30:30  30 method      Db.Inner.Pool.Acquire | public T Acquire()
      31:31  31 method      Db.Inner.Pool.operator+ | public static Pool<T> operator +(Pool<T> a, Pool<T> b)
      32:32  32 method      Db.Inner.Pool.Next | void ISource<T>.Next()
      34:34  34 enum        Db.Inner.Pool.State | private enum State
      35:35  35 type        Db.Inner.Pool.Handler | public delegate void Handler(object sender)
      36:36  36 struct      Db.Inner.Pool.Node | struct Node
      36:36  36 property    Db.Inner.Pool.Node.X | public int X
      39:39  39 class       Db.Inner.Pool | public partial class Pool<T>
      39:39  39 method      Db.Inner.Pool.Extra | void Extra()
      40:40  40 interface   Db.Inner.ISource | public interface ISource<T>
      40:40  40 method      Db.Inner.ISource.Next | void Next()
      40:40  40 property    Db.Inner.ISource.Count | int Count
      41:41  41 struct      Db.Inner.Point | public record Point(int X, int Y)
      42:42  42 struct      Db.Inner.Size | public record struct Size(int W)
      42:42  42 method      Db.Inner.Size.Area | public int Area()
      43:43  43 class       Db.Inner.Extensions | public static class Extensions
      43:43  43 method      Db.Inner.Extensions.Half | public static int Half(this int x)
    "##);
}

#[test]
fn c_sharp_with_a_namespace_for_the_file() {
    insta::assert_snapshot!(outline_of!("Scoped.cs"), @r##"
    C#
        1:1   1 module      Db.Scoped | namespace Db.Scoped
        3:6   3 class       Db.Scoped.Thing | public class Thing
        5:5   5 method      Db.Scoped.Thing.Run | public void Run()
    "##);
}

#[test]
fn ruby() {
    insta::assert_snapshot!(outline_of!("pool.rb"), @r##"
    Ruby
       5:41   6 module      Db | module Db
        7:7   7 const       Db::LIMIT | LIMIT
       9:40  10 class       Db::Pool | class Pool < Base
      14:17  15 method      Db::Pool#initialize | def initialize(size)
      19:22  20 method      Db::Pool#acquire | def acquire(wait: true)
      24:26  24 method      Db::Pool.open | def self.open(path)
      29:29  29 method      Db::Pool.shared | def shared
      32:32  32 method      Db::Pool#empty? | def empty?
      33:35  33 method      Db::Pool#== | def ==(other)
      36:36  36 method      Db::Pool#size= | def size=(n); end
      37:37  37 method      Db::Pool#hidden | private def hidden; end
      39:39  39 class       Db::Pool::Error | class Error < StandardError; end
      43:45  43 class       Db::Other | class Db::Other
      44:44  44 method      Db::Other#run | def run; end
      47:47  47 function    top | def top; end
    "##);
}

#[test]
fn php() {
    insta::assert_snapshot!(outline_of!("pool.php"), @r##"
    PHP
        3:3   3 module      App\Db | namespace App\Db
        7:7   7 const       App\Db\LIMIT | const LIMIT
      10:15  11 trait       App\Db\Counts | trait Counts
      13:13  13 property    App\Db\Counts::$n | private int $n
      14:14  14 method      App\Db\Counts::count | public function count(): int
      17:40  21 class       App\Db\Pool | abstract class Pool extends Base implements Source
      25:25  25 const       App\Db\Pool::SIZE | public const SIZE
      26:26  26 property    App\Db\Pool::$shared | private static ?Pool $shared
      28:28  28 method      App\Db\Pool::__construct | public function __construct(private int $size)
      30:37  32 method      App\Db\Pool::acquire | public static function acquire( bool $wait = true ): ?Connection
      35:35  35 function    App\Db\Pool::acquire::$f | $f = function ()
      39:39  39 method      App\Db\Pool::close | abstract protected function close(): void
      42:42  42 interface   App\Db\Source | interface Source extends Other
      42:42  42 method      App\Db\Source::next | public function next(): mixed
      43:43  43 enum        App\Db\State | enum State: string
      43:43  43 method      App\Db\State::flip | public function flip(): self
      45:48  45 function    App\Db\helper | function helper(array $xs): int
      49:49  49 function    App\Db::$closure | $closure = function ()
      50:50  50 function    App\Db::$arrow | $arrow = fn($x)
    "##);
}

#[test]
fn swift() {
    insta::assert_snapshot!(outline_of!("Pool.swift"), @r##"
    Swift
        3:4   4 const       limit | public let limit
        5:5   5 variable    shared | var shared: Pool<Int>?
        6:6   6 type        Reply | typealias Reply<T>
       8:13   9 interface   Source | public protocol Source: AnyObject
      10:10  10 type        Source.Item | associatedtype Item
      11:11  11 property    Source.name | var name: String
      12:12  12 method      Source.next | func next() -> Item?
      15:37  17 class       Pool | public final class Pool<T: Hashable>: Base, Source
      18:18  18 property    Pool.size | private let size: Int
      19:19  19 property    Pool.length | var length: Int
      20:20  20 property    Pool.shared | static let shared
      22:22  22 constructor Pool.init | init(size: Int)
      23:23  23 method      Pool.deinit | deinit
      25:32  27 method      Pool.acquire | public func acquire( wait: Bool = true ) async throws -> T?
      30:30  30 function    Pool.acquire.inner | func inner()
      34:34  34 property    Pool.subscript | subscript(i: Int) -> T
      35:35  35 method      Pool.== | static func == (a: Pool, b: Pool) -> Bool
      36:36  36 struct      Pool.Node | struct Node
      36:36  36 method      Pool.Node.touch | func touch()
      39:39  39 enum        State | enum State
      39:39  39 method      State.flip | func flip() -> State
      40:40  40 struct      Point | struct Point
      40:40  40 property    Point.x | var x
      40:40  40 method      Point.move | mutating func move()
      41:41  41 class       Worker | actor Worker
      41:41  41 method      Worker.run | func run() async
      43:46  43 extension   Pool | extension Pool: CustomStringConvertible where T: Equatable
      44:44  44 property    Pool.description | var description: String
      45:45  45 method      Pool.drain | func drain()
      48:48  48 function    helper | func helper(_ x: Int) -> Int
    "##);
}

#[test]
fn scala() {
    insta::assert_snapshot!(outline_of!("Pool.scala"), @r##"
    Scala
       5:10   6 trait       Source | trait Source[T] extends Base with Other
        7:7   7 type        Source.Item | type Item
        8:8   8 method      Source.next | def next(): T
        9:9   9 const       Source.name | val name: String
      12:28  14 class       Pool | abstract class Pool[T](val size: Int) extends Source[T]
      15:15  15 variable    Pool.n | private var n
      16:16  16 const       Pool.free | lazy val free: List[T]
      18:18  18 method      Pool.this | def this()
      20:25  22 method      Pool.acquire | final def acquire(wait: Boolean)(implicit x: Int): Option[T]
      23:23  23 function    Pool.acquire.inner | def inner(): Int
      27:27  27 class       Pool.Cursor | class Cursor
      27:27  27 method      Pool.Cursor.move | def move(): Unit
      30:34  30 object      Pool | object Pool
      31:31  31 method      Pool.apply | def apply[T](): Pool[T]
      32:32  32 class       Pool.Rich | implicit class Rich(x: Int)
      32:32  32 method      Pool.Rich.half | def half: Int
      33:33  33 type        Pool.Reply | type Reply[T]
      36:36  36 class       Point | case class Point(x: Int, y: Int)
      37:37  37 object      Nothing2 | case object Nothing2
      38:38  38 object      util | package object util
      38:38  38 method      util.helper | def helper(): Int
      40:42  40 enum        State | enum State
      42:42  42 method      State.flip | def flip: State
      44:45  44 const       ordering | given ordering: Ordering[Point] with
      45:45  45 function    ordering.compare | def compare(a: Point, b: Point): Int
      47:48  47 extension   String | extension (s: String)
      48:48  48 method      String.shout | def shout: String
      50:51  50 function    top | def top(x: Int): Int
    "##);
}

#[test]
fn bash() {
    insta::assert_snapshot!(outline_of!("pool.sh"), @r##"
    Bash
        2:3   3 variable    LIMIT | LIMIT
        4:4   4 variable    NAME | readonly NAME
       6:10   7 function    acquire | acquire()
        8:8   8 function    acquire::inner | inner()
      12:14  12 function    release | function release
      16:16  16 function    both | function both()
      17:17  17 function    pool::open | pool::open()
    "##);
}

#[test]
fn toml() {
    insta::assert_snapshot!(outline_of!("pool.toml"), @r##"
    TOML
        1:1   1 field       name | name
        3:6   4 table       dependencies | [dependencies]
        5:5   5 field       dependencies.serde | serde
        6:6   6 field       dependencies.gix | gix
        6:6   6 field       dependencies.gix.version | version
        6:6   6 field       dependencies.gix.features | features
        8:9   8 table       profile.release | [profile.release]
        9:9   9 field       profile.release.lto | lto
      11:12  11 table       bin | [[bin]]
      12:12  12 field       bin.name | name
      14:15  14 table       bin | [[bin]]
      15:15  15 field       bin.name | name
      17:18  17 table       target."cfg(unix)".dependencies | [target."cfg(unix)".dependencies]
      18:18  18 field       target."cfg(unix)".dependencies.libc | libc
    "##);
}

#[test]
fn yaml() {
    insta::assert_snapshot!(outline_of!("pool.yaml"), @r##"
    YAML
        1:2   2 field       name | name
        3:3   3 field       on | on
       4:12   4 field       jobs | jobs: # Tests.
       5:10   6 field       jobs.test | test
        7:7   7 field       jobs.test.runs-on | runs-on
       8:10   8 field       jobs.test.steps | steps
      11:12  11 field       jobs.quoted key | "quoted key"
      12:12  12 field       jobs.quoted key.a | a
      12:12  12 field       jobs.quoted key.a.b | b
      12:12  12 field       jobs.quoted key.a.c | c
      12:12  12 field       jobs.quoted key.a.c.d | d
      13:14  13 field       anchors | anchors
      14:14  14 field       anchors.k | k
      16:16  16 field       second | second
    "##);
}

#[test]
fn json() {
    insta::assert_snapshot!(outline_of!("pool.json"), @r##"
    JSON
        2:2   2 field       name | "name"
        3:6   3 field       scripts | "scripts"
        4:4   4 field       scripts.build | "build"
        5:5   5 field       scripts.test | "test"
        5:5   5 field       scripts.test.unit | "unit"
        7:7   7 field       files | "files"
        8:8   8 field       a.b | "a.b"
    "##);
}

#[test]
fn markdown() {
    insta::assert_snapshot!(outline_of!("pool.md"), @r##"
    Markdown
       3:18   3 heading     Pool | # Pool #
       7:16   7 heading     Pool > Use | ## Use
      13:16  13 heading     Pool > Use > Deep `code` and *stress* | ### Deep `code` and *stress*
      17:18  17 heading     Pool > Limits | ## Limits
      19:27  19 heading     Setext | Setext
      24:27  24 heading     Setext > Minor | Minor
    "##);
}

#[test]
fn members_of_a_ruby_class_itself() {
    let text = "class Pool
  class << self
    def acquire; end
    private def hidden; end

    class Inner
      def deep; end
    end
  end

  def plain; end
  private def own; end
end

private def top; end
";
    insta::assert_snapshot!(table("pool.rb", text.as_bytes()), @"
    Ruby
       1:13   1 class       Pool | class Pool
        3:3   3 method      Pool.acquire | def acquire; end
        4:4   4 method      Pool.hidden | private def hidden; end
        6:8   6 class       Pool::Inner | class Inner
        7:7   7 method      Pool::Inner#deep | def deep; end
      11:11  11 method      Pool#plain | def plain; end
      12:12  12 method      Pool#own | private def own; end
      15:15  15 function    top | private def top; end
    ");
}

#[test]
fn constants_of_php_types() {
    let text = "<?php
namespace Db;
const TOP = 1;
class Pool {
    public const SIZE = 1, LIMIT = 2;
}
interface Source { const NAME = 1; }
enum State: string { const DEFAULT = 'x'; }
";
    insta::assert_snapshot!(table("pool.php", text.as_bytes()), @r"
    PHP
        2:2   2 module      Db | namespace Db
        3:3   3 const       Db\TOP | const TOP
        4:6   4 class       Db\Pool | class Pool
        5:5   5 const       Db\Pool::SIZE | public const SIZE
        5:5   5 const       Db\Pool::LIMIT | public const SIZE
        7:7   7 interface   Db\Source | interface Source
        7:7   7 const       Db\Source::NAME | const NAME
        8:8   8 enum        Db\State | enum State: string
        8:8   8 const       Db\State::DEFAULT | const DEFAULT
    ");
}

#[test]
fn operators_of_c_sharp() {
    let text = "class Pool {
    public static Pool operator +(Pool a, Pool b) => a;
    public static bool operator true(Pool a) => true;
    public static implicit operator int(Pool a) => 1;
    public static explicit operator List<int>(Pool a) => null;
}
";
    insta::assert_snapshot!(table("Pool.cs", text.as_bytes()), @"
    C#
        1:6   1 class       Pool | class Pool
        2:2   2 method      Pool.operator+ | public static Pool operator +(Pool a, Pool b)
        3:3   3 method      Pool.operator true | public static bool operator true(Pool a)
        4:4   4 method      Pool.operator int | public static implicit operator int(Pool a)
        5:5   5 method      Pool.operator List | public static explicit operator List<int>(Pool a)
    ");
}

#[test]
fn kotlin_accessors_on_one_line() {
    let text = "class Pool {
    val size get() = free.size
    fun acquire() = free.pop()
    val isEmpty: Boolean get() = size == 0
    private val half: Int get() { return size / 2 }
    // Of the pool.
    override fun toString() = name

    var name = \"\"
        private set
    inner class Cursor
}

val top get() = 1
fun after() {}
";
    insta::assert_snapshot!(table("Pool.kt", text.as_bytes()), @"
    Kotlin
       1:12   1 class       Pool | class Pool
        2:2   2 property    Pool.size | val size get()
        3:3   3 method      Pool.acquire | fun acquire()
        4:4   4 property    Pool.isEmpty | val isEmpty: Boolean get()
        5:5   5 property    Pool.half | private val half: Int get()
        6:7   7 method      Pool.toString | override fun toString()
       9:10   9 property    Pool.name | var name
      11:11  11 class       Pool.Cursor | inner class Cursor
      14:14  14 const       top | val top get()
      15:15  15 function    after | fun after()
    ");
}

#[test]
fn cpp_types_behind_a_macro() {
    let text = "class API_EXPORT Pool {
  public:
    static Pool* open();
    void release() { x(); }
};

class API_EXPORT Derived : public Pool, private Base<int> {
    void go();
};
struct API_EXPORT Node final {
    void touch() {}
};
class API(1) Called {};
template <typename T>
class API_EXPORT Vector : Base<T> {};
enum class API_EXPORT State { Idle, Busy };
API_EXPORT int exported(int a) { return a; }
struct pool made() { return {}; }
class pool *pointed() { return nullptr; }
";
    insta::assert_snapshot!(table("pool.cpp", text.as_bytes()), @"
    C++, partial
        1:5   1 class       Pool | class API_EXPORT Pool
        3:3   3 prototype   Pool::open | static Pool* open()
        4:4   4 method      Pool::release | void release()
        7:9   7 class       Derived | class API_EXPORT Derived : public Pool, private Base<int>
      10:12  10 struct      Node | struct API_EXPORT Node final
      11:11  11 method      Node::touch | void touch()
      13:13  13 class       Called | class API(1) Called
      14:15  15 class       Vector | template <typename T> class API_EXPORT Vector : Base<T>
      16:16  16 enum        State | enum class API_EXPORT State
      17:17  17 function    exported | API_EXPORT int exported(int a)
      18:18  18 function    made | struct pool made()
      19:19  19 function    pointed | class pool *pointed()
    ");
}

#[test]
fn c_behind_a_macro() {
    let text = "POOL_API int acquire(void) { return 1; }
POOL_API struct pool *pool_open(const char *path)
{
    return 0;
}
static POOL_API void
release(void)
{
}
struct POOL_API pool { int free; };
POOL_API int size(void);
struct pool made(void) { }
";
    insta::assert_snapshot!(table("pool.c", text.as_bytes()), @"
    C, partial
        1:1   1 function    acquire | POOL_API int acquire(void)
        2:5   2 function    pool_open | pool *pool_open(const char *path)
        6:9   7 function    release | static POOL_API void release(void)
      10:10  10 struct      pool | struct POOL_API pool
      10:10  10 variable    pool::free | int free
      11:11  11 prototype   size | POOL_API int size(void)
      12:12  12 function    made | struct pool made(void)
    ");
    insta::assert_snapshot!(table("pool.h", text.as_bytes()), @"
    C++, partial
        1:1   1 function    acquire | POOL_API int acquire(void)
        2:5   2 function    pool_open | POOL_API struct pool *pool_open(const char *path)
        6:9   7 function    release | static POOL_API void release(void)
      10:10  10 struct      pool | struct POOL_API pool
      10:10  10 variable    pool::free | int free
      11:11  11 prototype   size | POOL_API int size(void)
      12:12  12 function    made | struct pool made(void)
    ");
}

#[test]
fn names_in_latin1() {
    let text = b"class Gr\xF6\xDFe:\n    def z\xE4hle(self):\n        pass\n";
    insta::assert_snapshot!(table("size.py", text), @"
    Python
        1:3   1 class       Größe | class Größe
        2:3   2 method      Größe.zähle | def zähle(self)
    ");
}
