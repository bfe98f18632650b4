# frozen_string_literal: true

require 'set'

# Databases.
module Db
  LIMIT = 8

  # A pool.
  class Pool < Base
    attr_reader :size
    include Comparable

    # Makes one.
    def initialize(size)
      @size = size
    end

    # Takes one.
    def acquire(wait: true)
      yield
    end

    def self.open(path)
      new(1)
    end

    class << self
      def shared = @shared
    end

    def empty? = size.zero?
    def ==(other)
      true
    end
    def size=(n); end
    private def hidden; end

    class Error < StandardError; end
  end
end

class Db::Other
  def run; end
end

def top; end
