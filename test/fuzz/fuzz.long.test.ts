/** Each fuzz target for some seconds from a fixed seed. A failure names the file with the input and the command that runs it again. */
import { expect, it } from "vitest";
import { superviseTarget } from "../../scripts/fuzz/supervise.ts";
import { targets } from "../../scripts/fuzz/targets.ts";
import { amount } from "../fixtures/slow.ts";

const seconds = amount(10, 1);

it.each(Object.keys(targets))(
  "%s: no input fails",
  async (target) => {
    const { executions, covered, failures } = await superviseTarget({ target, seconds, seed: 1, useFound: false });
    expect(failures.map(({ key, message, stack, path, command }) => ({ key, message, stack, path, command }))).toEqual([]);
    expect(executions).toBeGreaterThan(0);
    expect(covered).toBeGreaterThan(0);
  },
  300_000,
);
