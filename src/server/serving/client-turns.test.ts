import { expect, it } from "vitest";
import { ClientTurns } from "./client-turns.ts";

/** Starts requests, each of which advances the fake clock of the turns by 3 ms. */
function requests(): { readonly begin: (client: string) => Promise<void>; readonly order: string[] } {
  const order: string[] = [];
  let time = 0;
  const turns = new ClientTurns(() => time);
  const work = (client: string): void => {
    time += 3;
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

it("in a burst of one client, the first request of another begins at once, and its next one in the next turn", async () => {
  const { begin, order } = requests();
  const burst = Array.from({ length: 100 }, () => begin("burst"));
  const others = [begin("other"), begin("other")];
  const begun = order.length;
  await Promise.all(others);
  expect(begun).toBe(3);
  expect(order[2]).toBe("other");
  expect(order.lastIndexOf("other")).toBeLessThanOrEqual(begun + 1);
  await Promise.all(burst);
  expect(order.filter((client) => client === "burst")).toHaveLength(100);
});

it("clients with bursts take turns, and one turn begins several steps within its time", async () => {
  const { begin, order } = requests();
  await Promise.all(Array.from({ length: 40 }, (_, index) => begin(index < 20 ? "first" : "second")));
  const later = order.slice(4);
  expect(later.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? later[0] : later[1])));
  expect(new Set(later.slice(0, 2)).size).toBe(2);
});
