#!/usr/bin/env bash
# A pool.
LIMIT=8
readonly NAME="x"

# Takes one.
acquire() {
  inner() { :; }
  echo "$1"
}

function release {
  echo no
}

function both() { :; }
pool::open() ( exit 0 )
