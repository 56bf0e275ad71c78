import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { type ErrorCode, type ErrorKind, InferyardError, errorKinds, isInferyardError, wrapError } from "./errors.ts";

const codes = Object.keys(errorKinds) as ErrorCode[];

/** The first line under each code's heading: "HTTP 503 · exit 1 · retryable · tries the next candidate". */
function documented(): Record<string, string> {
  const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
  const sections = page.split(/^### /m).slice(1);
  return Object.fromEntries(sections.map((section) => section.split(/\n+/).slice(0, 2) as [string, string]));
}

function lineOf({ httpStatus, exitCode, retryable, tryNext }: ErrorKind): string {
  const parts = [`HTTP ${httpStatus}`, `exit ${exitCode}`, retryable ? "retryable" : "not retryable"];
  return [...parts, ...(tryNext ? ["tries the next candidate"] : [])].join(" · ");
}

describe("docs/reference/errors.md and the table of codes", () => {
  it("describes every code, no other, and in the order of the table", () => expect(Object.keys(documented())).toEqual(codes));

  it.each(codes)("says of %s what the table says", (code) => {
    expect(documented()[code]).toBe(lineOf(errorKinds[code]));
  });

  it("an error names its place there: the heading's anchor", () => {
    expect(new InferyardError("HOST_DIED", "x").documentation).toBe("docs/reference/errors.md#host_died");
  });
});

describe("errors", () => {
  it("cross threads and JSON as plain data, and come back as they were", () => {
    const error = new InferyardError("OUT_OF_MEMORY", "no memory for m", {
      remedy: "free some",
      data: { bytes: 7 },
      retryAfterMs: 500,
      cause: new Error("bad_alloc"),
    });
    const json = JSON.parse(JSON.stringify(structuredClone(error.toJSON()))) as ReturnType<InferyardError["toJSON"]>;
    expect(json).toEqual({
      code: "OUT_OF_MEMORY",
      message: "no memory for m",
      data: { bytes: 7 },
      retryable: true,
      remedy: "free some",
      retryAfterMs: 500,
    });
    const back = InferyardError.fromJSON(json);
    expect(back).toBeInstanceOf(InferyardError);
    expect(back.toJSON()).toEqual(json);
  });

  it("wrapping keeps what a foreign library threw as the cause, and leaves our own alone", () => {
    const foreign = new RangeError("offset is out of bounds");
    expect(wrapError(foreign, "RUN_FAILED", "the engine failed")).toMatchObject({
      code: "RUN_FAILED",
      message: "the engine failed: offset is out of bounds",
      cause: foreign,
    });
    expect(wrapError("just words", "LOAD_FAILED", "loading").message).toBe("loading: just words");
    const own = new InferyardError("MODEL_INVALID", "damaged");
    expect(wrapError(own, "RUN_FAILED", "x")).toBe(own);
  });

  it("are recognised across two copies of the package, and subclasses are told apart", async () => {
    vi.resetModules();
    const other = await import("./errors.ts");
    expect(other.InferyardError).not.toBe(InferyardError);
    const foreign = new other.InferyardError("BACKEND_UNAVAILABLE", "no device");
    expect([foreign instanceof InferyardError, isInferyardError(foreign)]).toEqual([true, true]);
    expect(wrapError(foreign, "RUN_FAILED", "x")).toBe(foreign);
    class Refusal extends InferyardError {}
    expect([new Refusal("FORBIDDEN", "x") instanceof Refusal, foreign instanceof Refusal]).toEqual([true, false]);
    const later = Object.assign(new other.InferyardError("FORBIDDEN", "x"), { code: "CODE_OF_A_LATER_VERSION" });
    for (const thrown of [later, new Error("x"), { code: "FORBIDDEN" }, "FORBIDDEN", null]) {
      expect(isInferyardError(thrown)).toBe(false);
    }
  });
});
