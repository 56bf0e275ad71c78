import { expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { refusal } from "../../tasks/generation/constraints/refusal.ts";
import { publicError } from "./public-error.ts";

it("keeps JSON pointers of a refused constraint, and no path of the machine", () => {
  const place = { keyword: "uniqueItems", pointer: "/properties/m195" };
  expect(publicError(refusal("whether items differ is not followed", "leave it out", place))).toMatchObject({
    message: 'the schema at "/properties/m195", keyword "uniqueItems": whether items differ is not followed',
    constraint: place,
  });
  const failed = new InferyardError("MODEL_INVALID", 'the file "/models/a/config.json" is damaged');
  expect(publicError(failed).message).toBe('the file "config.json" is damaged');
});
