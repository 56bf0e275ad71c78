import { expect, it } from "vitest";
import { InferyardError, abortError } from "../../contract/errors.ts";
import { constraintRefusal } from "../../tasks/generation/constraints/refusal.ts";
import { publicError } from "./public-error.ts";

it("keeps JSON pointers of a refused constraint, and no path of the machine", () => {
  const place = { keyword: "uniqueItems", pointer: "/properties/m195" };
  expect(publicError(constraintRefusal("whether items differ is not followed", "leave it out", place))).toMatchObject({
    message: 'the schema at "/properties/m195", keyword "uniqueItems": whether items differ is not followed',
    constraint: place,
  });
  const failed = new InferyardError("MODEL_INVALID", 'the file "/models/a/config.json" is damaged');
  expect(publicError(failed).message).toBe('the file "config.json" is damaged');
});

it("says why a call was aborted where that is an error of the server, and that the client left otherwise", () => {
  const timeout = new InferyardError("REQUEST_TIMEOUT", "the request was not done within 5 ms");
  expect(publicError(abortError(AbortSignal.abort(timeout)))).toMatchObject({ code: "REQUEST_TIMEOUT", status: 504 });
  expect(publicError(abortError(AbortSignal.abort("left")))).toMatchObject({ code: "ABORTED" });
});
