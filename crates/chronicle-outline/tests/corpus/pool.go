// Package pool keeps connections.
package pool

import "fmt"

// Limit says how many.
const Limit = 8

const (
	// A is first.
	A = iota
	B
)

var shared, other = 1, 2
var (
	once int
)

// Pool keeps connections.
type Pool[T any] struct {
	free []T
}

type Source interface {
	// Next gives one.
	Next() (int, error)
	fmt.Stringer
}

type (
	ID    int
	Alias = string
)

// New makes one.
func New[T any](n int) *Pool[T] {
	f := func() {}
	f()
	return nil
}

// Acquire takes one.
func (p *Pool[T]) Acquire(
	wait bool,
) (T, error) {
	panic("no")
}

func (ID) String() string { return "" }
