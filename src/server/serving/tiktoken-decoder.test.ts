import { expect, it } from "vitest";
import { TiktokenDecoder } from "./tiktoken-decoder.ts";

it("names the package to install where it is absent, and tries again after that", async () => {
  let calls = 0;
  const decoder = new TiktokenDecoder("o200k", () => {
    calls += 1;
    return Promise.reject(Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" }));
  });
  const refused = { code: "CONFIG_INVALID", message: expect.stringContaining("server.tokenIds is o200k") };
  await expect(decoder.load()).rejects.toMatchObject({ ...refused, remedy: expect.stringContaining("npm install js-tiktoken") });
  await expect(decoder.decode([1])).rejects.toMatchObject(refused);
  expect(calls).toBe(2);
});

it("passes on what a damaged package throws", async () => {
  const damaged = new TiktokenDecoder("cl100k", () => Promise.reject(new SyntaxError("broken")));
  await expect(damaged.load()).rejects.toThrow("broken");
});
