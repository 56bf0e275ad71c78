import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, asyncProperty, nat, tuple } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amount } from "../../../test/fixtures/slow.ts";
import { InferyardError, type ErrorCode } from "../../contract/errors.ts";
import { readSafetensorsHeader, readSafetensorsTensor } from "./read-safetensors.ts";
import { writeSafetensors } from "./write-safetensors.ts";
import type { Tensor } from "../../contract/tensor.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-safetensors-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** What `safetensors.numpy.save` of safetensors 0.8.0 (Python) wrote for `referenceTensors` with metadata {"bits": "8"}. */
const referenceBytes = Buffer.from(
  "UAEAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJiaXRzIjoiOCJ9LCJpZHMiOnsiZHR5cGUiOiJJNjQiLCJzaGFwZSI6WzEsMl0sImRhdGFfb2Zmc2V0cyI6WzAsMTZdfSwiZW1wdHkiOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzAsNF0sImRhdGFfb2Zmc2V0cyI6WzE2LDE2XX0sIndlaWdodHMiOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzNdLCJkYXRhX29mZnNldHMiOlsxNiwyOF19LCJoYWxmIjp7ImR0eXBlIjoiRjE2Iiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRzIjpbMjgsMzJdfSwiZW1iZWRkaW5ncyI6eyJkdHlwZSI6Ikk4Iiwic2hhcGUiOlszLDJdLCJkYXRhX29mZnNldHMiOlszMiwzOF19fSAgICABAAAAAAAAAAAAAAAA////AAAAPwAAAMAAAFBAAD4AtP3+/wABAg==",
  "base64",
);
const referenceTensors: Record<string, Tensor> = {
  embeddings: { dataType: "int8", shape: [3, 2], data: Int8Array.of(-3, -2, -1, 0, 1, 2) },
  weights: { dataType: "float32", shape: [3], data: Float32Array.of(0.5, -2, 3.25) },
  half: { dataType: "float16", shape: [2], data: Uint16Array.of(0x3e00, 0xb400) },
  ids: { dataType: "int64", shape: [1, 2], data: BigInt64Array.of(1n, -(2n ** 40n)) },
  empty: { dataType: "float32", shape: [0, 4], data: new Float32Array(0) },
};

let count = 0;
async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(folder, `case-${count++}.safetensors`);
  await writeFile(path, bytes);
  return path;
}

/** A file with this header text, as long as it claims to be, followed by `dataBytes` zeros. */
function fileBytes(header: string | Uint8Array, dataBytes = 0): Buffer {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.alloc(dataBytes)]);
}

async function refusal(reading: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> {
  const thrown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof InferyardError)) throw new Error("expected an InferyardError", { cause: thrown });
  return { code: thrown.code, message: thrown.message };
}

describe("reading", () => {
  it("reads what the reference implementation wrote", async () => {
    const header = await readSafetensorsHeader(await fileOf(referenceBytes));
    expect([...header.metadata]).toEqual([["bits", "8"]]);
    expect([...header.tensors.keys()].sort()).toEqual(Object.keys(referenceTensors).sort());
    for (const [name, tensor] of Object.entries(referenceTensors))
      expect(await readSafetensorsTensor(header, name)).toEqual(tensor);
  });

  it("names the tensors a file has when asked for another", async () => {
    const header = await readSafetensorsHeader(await fileOf(referenceBytes));
    const { code, message } = await refusal(readSafetensorsTensor(header, "embedding.weight"));
    expect(code).toBe("MODEL_UNSUPPORTED");
    expect(message).toContain('"weights"');
  });

  it("refuses a type that no Tensor holds", async () => {
    const header = await readSafetensorsHeader(
      await fileOf(fileBytes('{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}', 2)),
    );
    expect((await refusal(readSafetensorsTensor(header, "a"))).code).toBe("MODEL_UNSUPPORTED");
  });

  it("says which file is missing", async () => {
    const path = join(folder, "nothing.safetensors");
    expect(await refusal(readSafetensorsHeader(path))).toEqual({ code: "MODEL_NOT_FOUND", message: `there is no file ${path}` });
  });

  it("stops when the caller has given up", async () => {
    const path = await fileOf(referenceBytes);
    expect((await refusal(readSafetensorsHeader(path, AbortSignal.abort()))).code).toBe("ABORTED");
    const header = await readSafetensorsHeader(path);
    expect((await refusal(readSafetensorsTensor(header, "ids", AbortSignal.abort()))).code).toBe("ABORTED");
  });

  it("notices a file that shrank after its header was read", async () => {
    const path = await fileOf(referenceBytes);
    const header = await readSafetensorsHeader(path);
    await truncate(path, referenceBytes.length - 3);
    expect((await refusal(readSafetensorsTensor(header, "embeddings"))).code).toBe("MODEL_INVALID");
  });
});

const entry = (fields: string): string => `{"a":{${fields}}}`;
const hostile: readonly [what: string, bytes: Uint8Array, says: RegExp][] = [
  ["an empty file", Buffer.alloc(0), /0 bytes/],
  ["a file cut in its header", referenceBytes.subarray(0, 100), /claims 336 bytes, and the file ends after 100/],
  ["a file cut in its data", referenceBytes.subarray(0, -1), /need 38 bytes .* the file has 37/],
  ["bytes behind the last tensor", Buffer.concat([referenceBytes, Buffer.alloc(1)]), /need 38 bytes .* the file has 39/],
  ["a header longer than any file", Buffer.alloc(64, 0xff), /claims 18446744073709552000 bytes, more than/],
  ["a header that is not JSON", fileBytes('{"a":'), /not JSON/],
  ["a header that is no object", fileBytes("[1]"), /does not begin with/],
  ["a header that is not UTF-8", fileBytes(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), /not UTF-8/],
  ["a tensor that is a number", fileBytes('{"a":1}'), /unknown type/],
  ["a tensor that is null", fileBytes('{"a":null}'), /unknown type/],
  ["an unknown type", fileBytes(entry('"dtype":"F31","shape":[],"data_offsets":[0,4]'), 4), /unknown type "F31"/],
  ["a negative dimension", fileBytes(entry('"dtype":"F32","shape":[-1],"data_offsets":[0,4]'), 4), /shape/],
  ["a fractional dimension", fileBytes(entry('"dtype":"F32","shape":[0.5],"data_offsets":[0,2]'), 2), /shape/],
  [
    "dimensions whose product overflows",
    fileBytes(entry('"dtype":"F32","shape":[9007199254740991,9007199254740991],"data_offsets":[0,4]'), 4),
    /needs/,
  ],
  [
    "a shape that does not fit its bytes",
    fileBytes(entry('"dtype":"F32","shape":[2],"data_offsets":[0,4]'), 4),
    /needs 8 bytes, and its offsets hold 4/,
  ],
  [
    "offsets the wrong way round",
    fileBytes(entry('"dtype":"U8","shape":[2],"data_offsets":[4,2]'), 4),
    /needs 2 bytes, and its offsets hold -2/,
  ],
  ["one offset", fileBytes(entry('"dtype":"U8","shape":[2],"data_offsets":[2]'), 2), /data_offsets/],
  ["offsets outside the file", fileBytes(entry('"dtype":"U8","shape":[9],"data_offsets":[0,9]'), 2), /need 9 bytes/],
  ["a gap", fileBytes(entry('"dtype":"U8","shape":[2],"data_offsets":[2,4]'), 4), /gap/],
  [
    "tensors that overlap",
    fileBytes('{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}', 4),
    /"b" overlaps/,
  ],
  [
    "one name twice, once escaped",
    fileBytes(
      '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\\u0061" : {"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
      1,
    ),
    /"a" twice/,
  ],
  ["one field twice", fileBytes(entry('"dtype":"U8","shape":[1],"data_offsets":[0,1],"shape":[1]'), 1), /"shape" twice/],
  ["metadata that is no object", fileBytes('{"__metadata__":[]}'), /metadata/],
  ["metadata that is no text", fileBytes('{"__metadata__":{"bits":4}}'), /"bits" is not a string/],
  ["a header of a million brackets", fileBytes(`{"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`), /too deep/],
];

describe("damaged and hostile files", () => {
  it.each(hostile)("refuses %s", async (_what, bytes, says) => {
    const { code, message } = await refusal(readSafetensorsHeader(await fileOf(bytes)));
    expect(code).toBe("MODEL_INVALID");
    expect(message).toMatch(says);
  });

  it("keeps the message short when a name is long, and reads strings that end in backslashes", async () => {
    const name = "\\\\".repeat(500_000);
    const { message } = await refusal(readSafetensorsHeader(await fileOf(fileBytes(`{"${name}":0}`))));
    expect(message.length).toBeLessThan(400);
  });

  it("refuses a folder", async () => {
    expect((await refusal(readSafetensorsHeader(folder))).code).toBe("MODEL_INVALID");
  });

  it.skipIf(process.platform === "win32")("refuses a pipe, and does not wait for it", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect(await refusal(readSafetensorsHeader(pipe))).toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringContaining("it is no regular file") as string,
    });
  });

  it("never fails in any other way, whichever bytes change", async () => {
    const change = tuple(nat(referenceBytes.length - 1), nat(255));
    await assert(
      asyncProperty(array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(referenceBytes);
        for (const [at, value] of changes) bytes[at] = value;
        const outcome = await readSafetensorsHeader(await fileOf(bytes)).then(
          () => "read",
          (error: unknown) => (error instanceof InferyardError ? error.code : error),
        );
        expect(["read", "MODEL_INVALID"]).toContain(outcome);
      }),
      { numRuns: amount(200, 60) },
    );
  });
});

describe("writing", () => {
  it("writes the very bytes the reference implementation writes", async () => {
    const path = join(folder, "written.safetensors");
    await writeSafetensors(path, referenceTensors, { bits: "8" });
    expect(await readFile(path)).toEqual(referenceBytes);
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("keeps names and metadata with quotes, backslashes and what looks like keys", async () => {
    const path = join(folder, "odd-names.safetensors");
    const one: Tensor = { dataType: "uint8", shape: [1], data: Uint8Array.of(1) };
    const tensors = { 'a"': one, 'a":{"a': one, "back\\": one, "": one };
    const metadata = { note: '"a\\":"a\\\\":', "é\u0000": "}{" };
    await writeSafetensors(path, tensors, metadata);
    const header = await readSafetensorsHeader(path);
    expect([...header.tensors.keys()].sort()).toEqual(Object.keys(tensors).sort());
    expect(Object.fromEntries(header.metadata)).toEqual(metadata);
  });

  it("leaves nothing behind when the disk refuses", async () => {
    const path = join(folder, "no-such-folder", "model.safetensors");
    expect((await refusal(writeSafetensors(path, referenceTensors))).code).toBe("OUTPUT_FAILED");
  });

  it("refuses data that does not fill its shape", async () => {
    const short: Tensor = { dataType: "float32", shape: [3], data: new Float32Array(2) };
    expect((await refusal(writeSafetensors(join(folder, "x"), { short }))).code).toBe("INPUT_INVALID");
    const text: Tensor = { dataType: "string", shape: [1], data: ["a"] };
    expect((await refusal(writeSafetensors(join(folder, "x"), { text }))).code).toBe("INPUT_INVALID");
  });
});
