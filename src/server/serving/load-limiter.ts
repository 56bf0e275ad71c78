/** Limits on loading models: loads that run at once, in all and for one client, and loads per minute of one reader. */
import { waitForTurn } from "../../concurrency/abortable.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import type { AdmitLoad } from "../../runtime/scheduling/scheduling-key.ts";
import { serverDefaults } from "../../settings/server-options.ts";
import { RateLimiter } from "../http/access/rate-limiter.ts";
import type { Role, ServerSettings } from "../server-settings.ts";

/** A load that waits. */
interface Waiter {
  readonly client: string;
  readonly admit: () => void;
}

/** Limits the loads of models that requests cause: how many run at once, in all and per client, and how many a reader may start per minute. */
export class LoadLimiter {
  readonly #limits: { readonly all: number; readonly client: number; readonly minute: number };
  readonly #rates: RateLimiter;
  /** Number of running loads of each client. */
  readonly #running = new Map<string, number>();
  /** In order of arrival. */
  readonly #waiting: Waiter[] = [];
  #all = 0;

  /** `now`: milliseconds of a monotonic clock, for the rate limit. Default: `performance.now`. */
  constructor(settings: Pick<ServerSettings, "maxLoads" | "maxLoadsPerClient" | "loadsPerMinute">, now?: () => number) {
    const { maxLoads, maxLoadsPerClient, loadsPerMinute } = { ...serverDefaults, ...settings };
    this.#limits = { all: maxLoads, client: maxLoadsPerClient, minute: loadsPerMinute };
    this.#rates = new RateLimiter(now);
  }

  /**
   * The function that the runtime calls before it loads a model for this client. It waits for capacity; it throws RATE_LIMITED for a reader that
   * started too many loads in the last minute, and ABORTED. Admins are not rate-limited.
   */
  admitterFor(client: string, role: Role): AdmitLoad {
    return async (signal) => {
      throwIfAborted(signal);
      if (role !== "admin") this.#rates.take(client, this.#limits.minute, "loads of models");
      if (this.#hasCapacity(client)) this.#enter(client);
      else await this.#wait(client, signal);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        this.#leave(client);
      };
    };
  }

  #hasCapacity(client: string): boolean {
    return this.#all < this.#limits.all && (this.#running.get(client) ?? 0) < this.#limits.client;
  }

  #enter(client: string): void {
    this.#all += 1;
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1);
  }

  #leave(client: string): void {
    this.#all -= 1;
    const remaining = (this.#running.get(client) ?? 0) - 1;
    if (remaining > 0) this.#running.set(client, remaining);
    else this.#running.delete(client);
    const next = this.#waiting.findIndex((waiter) => this.#hasCapacity(waiter.client));
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.admit();
  }

  #wait(client: string, signal: AbortSignal): Promise<void> {
    return waitForTurn(signal, (giveTurn) => {
      const admit = (): void => {
        this.#enter(client);
        giveTurn();
      };
      const waiter = { client, admit };
      this.#waiting.push(waiter);
      return () => this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
    });
  }
}
