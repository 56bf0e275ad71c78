import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LoadLimiter } from "./load-limiter.ts";

const signal = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("loads", () => {
  it("are never more at once than allowed, in all and for one client, and every one has its turn", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (clients, maxLoads, maxLoadsPerClient) => {
          const limiter = new LoadLimiter({ maxLoads, maxLoadsPerClient });
          const running: string[] = [];
          let done = 0;
          const all = clients.map(async (client) => {
            const end = await limiter.admitterFor(client, "admin")(signal);
            running.push(client);
            expect(running.length).toBeLessThanOrEqual(maxLoads);
            expect(running.filter((other) => other === client).length).toBeLessThanOrEqual(maxLoadsPerClient);
            await turn();
            running.splice(running.indexOf(client), 1);
            end();
            end(); // a second time does nothing
            done += 1;
          });
          await Promise.all(all);
          expect(done).toBe(clients.length);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("of a client that has as many as it may do not hold up those of another", async () => {
    const limiter = new LoadLimiter({ maxLoads: 2, maxLoadsPerClient: 1 });
    await limiter.admitterFor("a", "reader")(signal);
    const waiting = limiter.admitterFor("a", "reader")(signal);
    const other = await limiter.admitterFor("b", "reader")(signal);
    other();
    expect(await Promise.race([waiting, turn().then(() => "waits")])).toBe("waits");
  });

  it("that are cancelled while they wait take no turn", async () => {
    const limiter = new LoadLimiter({ maxLoads: 1, maxLoadsPerClient: 1 });
    const end = await limiter.admitterFor("a", "admin")(signal);
    const leaving = new AbortController();
    const left = limiter.admitterFor("b", "admin")(leaving.signal);
    const third = limiter.admitterFor("c", "admin")(signal);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: "ABORTED" });
    end();
    await expect(third).resolves.toBeTypeOf("function");
  });

  it("of a reader are so many in a minute; who comes after them is told when to come again, and admins are not counted", async () => {
    let now = 0;
    const limiter = new LoadLimiter({ loadsPerMinute: 3 }, () => now);
    const load = async (client: string, role: "reader" | "admin" = "reader"): Promise<void> =>
      (await limiter.admitterFor(client, role)(signal))();
    for (let index = 0; index < 3; index += 1) await load("a");
    const refused = await load("a").catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "RATE_LIMITED", retryable: true, message: expect.stringContaining("3 loads") });
    const { retryAfterMs } = refused as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(0);
    await load("b");
    for (let index = 0; index < 5; index += 1) await load("a", "admin");
    now += retryAfterMs;
    await load("a");
  });
});
