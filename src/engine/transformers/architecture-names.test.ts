import { expect, it } from "vitest";
import { architectures } from "./index.ts";
import { architectureNames } from "./architecture-names.ts";

it("every architecture that is built is named, and none beside", () => {
  expect(architectureNames.toSorted()).toEqual(Object.keys(architectures).toSorted());
});
