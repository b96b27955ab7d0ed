// When a server that ended is started again: at once, then later and later, then no more until somebody asks.
export interface Restarts {
  /** Milliseconds to wait before the next start; undefined when it is given up. */
  next(now: number): number | undefined;
  reset(): void;
}

const WAITS_MS = [0, 1000, 4000, 15_000];
const LONG_ENOUGH_MS = 180_000;

/** A server that ran for three minutes counts as sound again. */
export function restarts(): Restarts {
  let failures = 0;
  let last = Number.NEGATIVE_INFINITY;
  return {
    next(now) {
      failures = now - last > LONG_ENOUGH_MS ? 0 : failures;
      last = now;
      const wait = WAITS_MS[failures];
      failures += 1;
      return wait;
    },
    reset() {
      failures = 0;
    },
  };
}
