import { expect, it } from "vitest";
import { ClientTurns } from "./client-turns.ts";

/** Begins requests, each of which takes 5 ms of the time that the turns see. */
function requests(): { readonly begin: (client: string) => Promise<void>; readonly order: string[] } {
  const order: string[] = [];
  let time = 0;
  const turns = new ClientTurns(() => time);
  const work = (client: string): void => {
    time += 5;
    order.push(client);
  };
  const begin = async (client: string): Promise<void> => {
    const turn = turns.wait(client);
    if (turn !== undefined) await turn;
    work(client);
  };
  return { begin, order };
}

it("a few requests begin at once, in the order of arrival", () => {
  const { begin, order } = requests();
  void begin("a");
  void begin("b");
  expect(order).toEqual(["a", "b"]);
});

it("in a burst of one client, requests of others begin in the next turn", async () => {
  const { begin, order } = requests();
  const burst = Array.from({ length: 100 }, () => begin("burst"));
  const other = begin("other");
  const begun = order.length;
  await other;
  expect(begun).toBe(2);
  expect(order.indexOf("other")).toBeLessThanOrEqual(begun + 1);
  await Promise.all(burst);
  expect(order.filter((client) => client === "burst")).toHaveLength(100);
});
