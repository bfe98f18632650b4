<?php

namespace App\Db;

use PDO;

const LIMIT = 8;
define('OTHER', 9);

/** A trait. */
trait Counts
{
    private int $n = 0;
    public function count(): int { return $this->n; }
}

/**
 * A pool.
 */
#[Attribute]
abstract class Pool extends Base implements Source
{
    use Counts;

    public const SIZE = 3;
    private static ?Pool $shared = null;

    public function __construct(private int $size) {}

    /** Takes one. */
    #[Pure]
    public static function acquire(
        bool $wait = true
    ): ?Connection {
        $f = function () {};
        return null;
    }

    abstract protected function close(): void;
}

interface Source extends Other { public function next(): mixed; }
enum State: string { case Open = 'o'; public function flip(): self { return $this; } }

function helper(array $xs): int
{
    return 1;
}
$closure = function () { return 1; };
$arrow = fn($x) => $x;
