import { expect, it } from "vitest";
import { architectures } from "./index.ts";
import { architectureNames } from "./architecture-names.ts";

it("the list of names equals the table of architectures", () => {
  expect(architectureNames.toSorted()).toEqual(Object.keys(architectures).toSorted());
});
