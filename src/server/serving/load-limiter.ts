/** How many models requests may load: at once in all and for one client, and in a minute for one reader. */
import { abortError, throwIfAborted } from "../../errors.ts";
import type { AdmitLoad } from "../../runtime/scheduling/scheduling-key.ts";
import { serverDefaults } from "../../settings/server-section.ts";
import { RateLimiter } from "../http/access/rate-limiter.ts";
import type { Role, ServerSettings } from "../server-settings.ts";

interface Waiter {
  readonly client: string;
  readonly admit: () => void;
}

export class LoadLimiter {
  readonly #limits: { readonly all: number; readonly client: number; readonly minute: number };
  readonly #rates: RateLimiter;
  /** Loads that run, by client. */
  readonly #running = new Map<string, number>();
  /** In the order they came. */
  readonly #waiting: Waiter[] = [];
  #all = 0;

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(settings: Pick<ServerSettings, "maxLoads" | "maxLoadsPerClient" | "loadsPerMinute">, now?: () => number) {
    const { maxLoads, maxLoadsPerClient, loadsPerMinute } = { ...serverDefaults, ...settings };
    this.#limits = { all: maxLoads, client: maxLoadsPerClient, minute: loadsPerMinute };
    this.#rates = new RateLimiter(now);
  }

  /** Admits the loads of one client. RATE_LIMITED for a reader that loaded too many in the last minute. */
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
    const left = (this.#running.get(client) ?? 0) - 1;
    if (left > 0) this.#running.set(client, left);
    else this.#running.delete(client);
    const next = this.#waiting.findIndex((waiter) => this.#hasCapacity(waiter.client));
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.admit();
  }

  #wait(client: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        client,
        admit: () => {
          signal.removeEventListener("abort", stop);
          this.#enter(client);
          resolve();
        },
      };
      const stop = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(abortError(signal));
      };
      this.#waiting.push(waiter);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}
