package db

import java.io.Closeable

/** How many. */
const val LIMIT = 8
var shared: Pool<Int>? = null
typealias Reply<T> = Result<T>

/** A pool. */
@Deprecated("old")
abstract class Pool<T>(private val size: Int) : Base(), Closeable {
    private val free = mutableListOf<T>()
    val length: Int
        get() = free.size

    constructor() : this(1) {}

    init { println() }

    /** Takes one. */
    @Throws
    suspend fun <R> acquire(
        wait: Boolean,
    ): T? {
        fun inner() {}
        return null
    }

    abstract fun next(): T

    companion object {
        @JvmStatic fun open(path: String) = Pool<Int>(1)
    }

    inner class Cursor {
        fun move() {}
    }
}

class Other {
    companion object Named {
        fun close() {}
    }
}

sealed interface Source {
    fun give(): Int
}
data class Point(val x: Int, val y: Int)
enum class State(val n: Int) {
    OPEN(1), CLOSED(2);
    fun flip() = OPEN
}
object Registry {
    fun find() {}
}
annotation class Marker

/** Extends. */
fun <T> Pool<T>.drain(): Int = 0
val String.half: String
    get() = this
infix fun Int.plus2(o: Int): Int { return this + o }
