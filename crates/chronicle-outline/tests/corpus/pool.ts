/** How many. */
export const LIMIT: number = 8;
export type Reply<T> = { ok: T } | Error;

/** Gives. */
export interface Source<T> extends Base {
  readonly name: string;
  next(): T;
}

export enum State { Open, Closed }
declare const enum Flag { A }

function pick(a: string): string;
function pick(a: number): number;
function pick(a: any): any {
  return a;
}

/** A pool. */
@injectable()
export abstract class Pool<T> implements Source<T> {
  static shared = new Pool();
  private free: T[] = [];
  onClose = async (why: string): Promise<void> => {
    await 1;
  };

  constructor(private readonly size: number) {}

  abstract close(): void;

  /** Takes one. */
  @traced
  async acquire(wait: boolean): Promise<T> {
    const helper = (x: number) => x + 1;
    function nested() {}
    return helper(1) as any;
  }

  get length(): number { return 0; }
  set length(n: number) {}
  static #secret() {}
}

export namespace Db.Inner {
  export function open(): void {}
}

declare module "other" {
  function outside(): void;
}

export default function main() {}

export const compose = <A, B>(f: (a: A) => B) => {
  return f;
};

export const routes = {
  index(req: Request) {},
  show: (req: Request) => {},
  deep: { leaf: function () {} },
};
