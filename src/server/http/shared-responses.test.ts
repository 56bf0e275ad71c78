import { expect, it } from "vitest";
import { shareErrorResponses } from "./shared-responses.ts";

const response = (schema: string, description: string): object => ({
  description,
  content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
});

it("the response of a status that several operations have becomes a component, and any other stays where it is", () => {
  const missing = response("Error", "There is no such model");
  const ready = response("Ready", "Send none");
  const document = {
    openapi: "3.1.0",
    paths: {
      "/a": { get: { responses: { 200: response("Answer", "The answer"), 404: missing } } },
      "/b": { get: { responses: { 200: response("Answer", "The answer"), 404: missing, 503: ready } } },
      "/c": { get: { responses: { 404: response("Error", "There is no such decision") } } },
      "/d": { get: { responses: { 404: response("OtherError", "There is no such model") } } },
      "/e": { get: { responses: { 404: { description: "A text", content: { "text/plain": {} } } } } },
    },
    components: { schemas: { Error: {} } },
  };
  const before = structuredClone(document);
  const reference = { $ref: "#/components/responses/Error404" };
  expect(shareErrorResponses(document)).toEqual({
    ...before,
    paths: {
      ...before.paths,
      "/a": { get: { responses: { 200: response("Answer", "The answer"), 404: reference } } },
      "/b": { get: { responses: { 200: response("Answer", "The answer"), 404: reference, 503: ready } } },
    },
    components: { schemas: { Error: {} }, responses: { Error404: missing } },
  });
  expect(document).toEqual(before);
});

it("of two responses with one name, the one that more operations have becomes the component", () => {
  const [rare, frequent] = [response("Error", "Not loaded"), response("Error", "Unavailable")];
  const operation = (answer: object): object => ({ get: { responses: { 503: answer } } });
  const paths = { "/a": operation(rare), "/b": operation(frequent), "/c": operation(frequent) };
  const shared = operation({ $ref: "#/components/responses/Error503" });
  expect(shareErrorResponses({ paths })).toEqual({
    paths: { "/a": operation(rare), "/b": shared, "/c": shared },
    components: { responses: { Error503: frequent } },
  });
});
