'use strict';

const LIMIT = 8;
var one = 1, two = function () {};

/**
 * A pool.
 */
class Pool extends Base {
  static shared = null;
  #free = [];
  onClose = () => {
    this.close();
  };
  constructor(size) { super(); }
  static of(...items) {}
  async *drain() {}
  get size() { return 0; }
  'quoted name'() {}
}

// Makes one.
function makePool(size) {
  function inner() {}
  return new Pool(size);
}

async function* stream() {}

module.exports.open = function open(path) {
  return path;
};
exports.close = () => {};
Pool.prototype.reset = function () {};
module.exports = { makePool, helper() {}, other: function () {} };

const api = {
  get(req) {},
  post: async (req) => {},
};

export default class Last {}
export const Anonymous = class {
  run() {}
};
