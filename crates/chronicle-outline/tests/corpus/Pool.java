package db;

import java.util.*;

/** A pool. */
@Deprecated
public abstract class Pool<T extends Number> extends Base implements Source<T> {
    public static final int LIMIT = 8, OTHER = 9;
    private final List<T> free = new ArrayList<>();

    static { READY = true; }

    /** Makes one. */
    public Pool(int size) {}

    /** Takes one. */
    @Override
    public <R> T acquire(boolean wait,
                         R hint) throws Exception {
        Runnable r = new Runnable() { public void run() {} };
        return null;
    }

    T acquire() { return null; }

    abstract void close();

    interface Source<T> { T next(); default void skip() {} }

    enum State {
        OPEN, CLOSED { void x() {} };
        State flip() { return OPEN; }
    }

    record Point(int x, int y) {
        Point { }
        double norm() { return 0; }
    }

    @interface Marker { String value() default ""; }
}

class Second {}
