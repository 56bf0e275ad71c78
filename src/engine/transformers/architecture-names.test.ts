import { expect, it } from "vitest";
import { architectures } from "./index.ts";
import { transformerNames } from "./architecture-names.ts";

it("every architecture that is built is named, and none beside", () => {
  expect(transformerNames.toSorted()).toEqual(Object.keys(architectures).toSorted());
});
