package db

import scala.util._

/** Gives. */
trait Source[T] extends Base with Other {
  type Item
  def next(): T
  val name: String = "x"
}

/** A pool. */
@deprecated("old", "1")
abstract class Pool[T](val size: Int) extends Source[T] {
  private var n = 0
  lazy val free: List[T] = Nil

  def this() = this(1)

  /** Takes one. */
  @inline
  final def acquire(wait: Boolean)(implicit x: Int): Option[T] = {
    def inner(): Int = 1
    None
  }

  class Cursor { def move(): Unit = () }
}

object Pool {
  def apply[T](): Pool[T] = ???
  implicit class Rich(x: Int) { def half: Int = x / 2 }
  type Reply[T] = Either[String, T]
}

case class Point(x: Int, y: Int)
case object Nothing2
package object util { def helper(): Int = 1 }

enum State:
  case Open, Closed
  def flip: State = Open

given ordering: Ordering[Point] with
  def compare(a: Point, b: Point): Int = 0

extension (s: String)
  def shout: String = s.toUpperCase

def top(x: Int): Int =
  x + 1
