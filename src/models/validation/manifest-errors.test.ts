import { expect, it } from "vitest";
import { manifestInvalid } from "./manifest-errors.ts";

it("lists the first 20 problems in its message, each cut after 300 characters, and all of them in its data", () => {
  const problems = Array.from({ length: 5000 }, (_, index) => `files.${index}: ${"x".repeat(1000)}`);
  const { message, data } = manifestInvalid("model.json", problems, "write it anew");
  expect(message).toMatch(/^model\.json has 5000 problems: files\.0: x+…; .*; and 4980 more$/);
  expect(message.length).toBeLessThan(8192);
  expect(data["problems"]).toBe(problems);
});
