/**
 * Inputs that failed once, and the smallest ones that reach code the seeds do not: none fails now.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inputsIn, keptFolder, pathsIn } from "../../scripts/fuzz/corpus.ts";
import { outcomeOf } from "../../scripts/fuzz/oracle.ts";
import { targets } from "../../scripts/fuzz/targets.ts";

/** A target that no input failed has nothing to be opened for. */
const failedOnce = Object.keys(targets).filter((name) => pathsIn(keptFolder(name)).length > 0);

describe.each(failedOnce)("the corpus of %s", (name) => {
  const paths = pathsIn(keptFolder(name));

  it(`has ${paths.length} inputs, and none fails`, async () => {
    const target = await targets[name]!();
    const open = await target.open();
    try {
      for (const path of paths) {
        const outcome = await outcomeOf(target, open, readFileSync(path));
        expect(outcome, path).toBeTypeOf("string");
      }
    } finally {
      await open.close?.();
    }
  });
});

it("the corpus stays small", () => {
  const bytes = Object.keys(targets).flatMap((name) => inputsIn(keptFolder(name)).map(({ length }) => length));
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
});
