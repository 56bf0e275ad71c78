import { expect, it } from "vitest";
import { tableScaleOffset } from "../blocks/lookup-tables.ts";
import type { GgufModelTensor } from "./read-model.ts";
import { tableMatrices } from "./table-weights.ts";

const tensor = {
  name: "a.weight",
  type: "TL1",
  shape: [8640, 3200],
  bytes: tableScaleOffset("TL1", 3200, 8640) + 32,
} as unknown as GgufModelTensor;

it("says which tiles are read, and which of those that are given no matrix has", () => {
  const { sentence } = tableMatrices({ tensors: new Map([["a.weight", tensor]]) }, [
    "3200x8640=160/64/32",
    "3200x8460=160/64/32",
  ]);
  expect(sentence).toContain("3200x8640=160/64/32 (tlTiles gives them)");
  expect(sentence).toContain("tlTiles has tiles for 3200x8460, and no matrix has this shape");
  expect(tableMatrices({ tensors: new Map([["a.weight", tensor]]) }, []).sentence).not.toContain("tlTiles");
});
