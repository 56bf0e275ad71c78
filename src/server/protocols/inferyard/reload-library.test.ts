import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type HandlerOptions, createHandler } from "../../handler.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

const keyOf = (name: string, role: "admin" | "reader") => ({
  name,
  role,
  sha256: createHash("sha256").update(name).digest("hex"),
});
const keys = [keyOf("bob", "admin"), keyOf("ann", "reader")];

async function reload(
  body: object,
  options: HandlerOptions,
  key?: string,
): Promise<{ status: number; code: unknown; message: string }> {
  const headers = { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  const request = new Request("http://localhost/api/library/reload", { method: "POST", headers, body: JSON.stringify(body) });
  // Without a socket the request comes from this machine.
  const response = await createHandler(runtime, options)(request);
  const { error } = (await response.json()) as { error: { code: unknown; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

describe("POST /api/library/reload", () => {
  it("is for admins", async () => {
    expect(await reload({ path: "/nowhere/libllama.so" }, { keys }, "ann")).toMatchObject({ status: 403, code: "FORBIDDEN" });
  });

  it("takes a path from a key with the role admin, and says why the library is refused", async () => {
    const { status, code, message } = await reload({ path: "/nowhere/libllama.so" }, { keys }, "bob");
    expect([status, code]).toEqual([422, "RELOAD_FAILED"]);
    expect(message).toContain("there is no such file");
  });

  it("reloads the file in use for programs of this machine, which may not choose another", async () => {
    expect(await reload({ path: "/nowhere/libllama.so" }, {})).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(await reload({}, {})).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
      message: "library has no library that could be reloaded",
    });
    expect(await reload({ tolerance: 2 }, {})).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  });
});
