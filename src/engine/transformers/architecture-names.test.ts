import { expect, it } from "vitest";
import { architectures, encoderDecoders } from "./index.ts";
import { architectureNames, encoderDecoderNames } from "./architecture-names.ts";

it("the lists of names equal the tables of architectures", () => {
  expect(architectureNames.toSorted()).toEqual(Object.keys(architectures).toSorted());
  expect(encoderDecoderNames.toSorted()).toEqual(Object.keys(encoderDecoders).toSorted());
});
