/** Every operator of the builder on `native`, with floats of 16 and 64 bits: the quick suite has those of 32. */
import { describe, expect, it } from "vitest";
import { nativePrograms } from "inferyard/program";
import { programBackendCases } from "inferyard/testing";
import { amount, runsAll } from "../fixtures/slow.ts";

const integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"] as const;
const floats = ["float16", "bfloat16", "float64", "float32"] as const;
const native = nativePrograms(); // one, so that generated code is checked once

describe.each(runsAll ? [undefined, "wasm"] : [undefined])("operators on native, level %s", (level) => {
  const cases = programBackendCases({
    create: () => native,
    ...(level === undefined ? {} : { qualifier: level }),
    dataTypes: [...floats, ...integers],
    floats: runsAll ? floats : ["float16"],
    samples: amount(5, 1),
  });
  it.each(cases)("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
