/** Receipts of real runs: recorded, signed, verified, and refused when they do not say what happened. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createRuntime, type Runtime } from "inferyard";
import { createReceipt, formatReceipt, type Receipt, verifyReceipt } from "inferyard/receipts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { receiptJsonSchema } from "../../src/receipts/receipt-schema.ts";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { installedLibrary } from "./fixtures/llama-libraries.ts";

const [skip, title] = needsData("receipts");
const folder = mkdtempSync(join(tmpdir(), "inferyard-receipts-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const tiny = (type: string): string => `${sharedData}gguf-tiny-llama/tiny-llama-${type}.gguf`;

/** Changes a byte of a file, which is written anew: what is mapped elsewhere stays. */
function patch(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  rmSync(path);
  writeFileSync(path, bytes);
}

it("schemas/receipt.json is that of the code: npm run schemas", () => {
  const written = readFileSync(new URL("../../schemas/receipt.json", import.meta.url), "utf8");
  expect(JSON.parse(written)).toEqual(receiptJsonSchema());
});

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => void (runtime = await createRuntime({ threads: 1, host: "inline" })));
  afterAll(() => runtime.dispose());

  it("list the kernels that ran, in a number that the model and the tokens explain", async () => {
    const model = tiny("256-q4_k");
    const receipt = await createReceipt(runtime, { model, target: "native", prompt: [5, 9, 300], tokens: 4 });
    const { kernels, computePath, model: recorded, figures, determinism, tests, output } = receipt;
    // 8 products for each call: three runs of at most 4 calls, the prompt token by token, a batch, and another prompt.
    const products = kernels.find(({ id }) => /^Q4_K_(?:Wasm|AVX\w+)$/.test(id))?.calls ?? 0;
    const calls = 3 * output.tokens.length + 3 + 1 + 1;
    expect(products).toBeGreaterThanOrEqual(8 * (calls - 1));
    expect(products).toBeLessThanOrEqual(8 * (calls + 1));
    expect(computePath).toMatchObject({ target: "native:cpu", kind: "fast", slowCalls: 0 });
    expect(recorded.weightTypes[0]?.type).toBe("Q4_K");
    expect(recorded.files).toEqual([
      { name: "tiny-llama-256-q4_k.gguf", bytes: 291_648, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    ]);
    expect(determinism).toMatchObject({ deterministic: true, runs: [{}, {}] });
    expect(tests.map(({ name, passed }) => [name, passed])).toEqual([
      ["finite logits", true],
      ["measured run gives the same tokens", true],
      ["token by token equals one call", true],
      ["batch equals serial", true],
      ["another prompt gives other logits", true],
    ]);
    expect(figures).toMatchObject({ promptTokens: 3, generatedTokens: output.tokens.length });
    const { results } = await runtime.generate([5, 9, 300], { model, target: "native", temperature: 0, maxNewTokens: 4 });
    expect(output.tokens).toEqual(results[0]?.tokens);
    const { accepted, refusals, held } = await verifyReceipt(formatReceipt(receipt), { requireKernels: ["Q4_K_*"] });
    expect(refusals).toEqual([]);
    expect([accepted, held]).toEqual([true, [`the files of ${model} have the digests of the receipt`]]);
  });

  it("do not hold for another model, nor for altered weights", async () => {
    const model = at("model.gguf");
    cpSync(tiny("f32"), model);
    const receipt = await createReceipt(runtime, { model, target: "native", tokens: 2 });
    expect((await verifyReceipt(receipt)).accepted).toBe(true);
    expect((await verifyReceipt(receipt, { model: tiny("q8_0") })).refusals.map(({ code }) => code)).toContain("model-digest");
    patch(model, readFileSync(model).length - 5);
    const { refusals } = await verifyReceipt(receipt);
    expect(refusals).toEqual([
      { code: "model-digest", reason: expect.stringMatching(/^model\.gguf has the sha256 .*, and the receipt says /) as string },
    ]);
  });

  it("of safetensors and of weights that are packed while loading hold too", async () => {
    const model = at("safetensors");
    cpSync(`${sharedData}tiny-random-llama`, model, { recursive: true, filter: (path) => !path.includes("onnx") });
    for (const variant of ["fp32", "int8"]) {
      const receipt = await createReceipt(runtime, { model, variant, target: "native", tokens: 3 });
      expect((await verifyReceipt(receipt, { model })).refusals).toEqual([]);
      expect(receipt.model.weightBytesPerToken).toBeGreaterThan(0);
    }
  });

  it("of an engine that counts no kernels are refused", async () => {
    const model = `${sharedData}tiny-random-gpt2`;
    const receipt = await createReceipt(runtime, { model, target: "onnx", tokens: 3 });
    expect(receipt.computePath.kind).toBe("uncounted");
    expect((await verifyReceipt(receipt)).refusals.map(({ code }) => code)).toEqual(["no-kernels"]);
  });

  it.skipIf(installedLibrary() === undefined || process.platform !== "linux")(
    "name all files that a library of the user's own loads, and hold for no folder with others",
    async () => {
      const source = installedLibrary() ?? "";
      const name = basename(source);
      // The library, the parts that it needs, and one backend for any processor.
      const parts = readdirSync(dirname(source)).filter(
        (file) => file === name || /^libggml(?:-base|-cpu(?:-x64|-armv8\.0_1)?|\.[\w.]+)?\.so$/.test(file),
      );
      const folderOf = (copy: string): string => {
        mkdirSync(at(copy));
        for (const file of parts) cpSync(join(dirname(source), file), join(at(copy), file), { dereference: true });
        if (copy !== "genuine") cpSync(join(at("genuine"), "libggml-cuda.so"), join(at(copy), "libggml-cuda.so"));
        return at(copy);
      };
      // No library, so that ggml passes over it; it counts nevertheless, since another file of that name would be loaded.
      writeFileSync(join(folderOf("genuine"), "libggml-cuda.so"), "");
      const own = await createRuntime({ threads: 1, library: join(at("genuine"), name) });
      try {
        const receipt = await createReceipt(own, { model: tiny("q8_0"), target: "library", tokens: 3 });
        expect(receipt.library.files?.map((file) => file.name).toSorted()).toEqual([...parts, "libggml-cuda.so"].toSorted());
        expect(receipt.decision.selected?.evidence.join()).toContain(
          "it reports no GPU, although libggml-cuda.so is beside it; it computes on the CPU",
        );
        expect(receipt.decision.selected?.library.files).toEqual(receipt.library.files);
        const { refusals, held } = await verifyReceipt(formatReceipt(receipt));
        expect(refusals).toEqual([]);
        expect(held).toContain(`${name} has the digest of the receipt, and so have the ${parts.length} files that it loads`);

        const backend = parts.find((file) => file.startsWith("libggml-cpu")) ?? "";
        const changes: Record<string, readonly [(copy: string) => void, RegExp]> = {
          // The byte of ELF's header that nobody reads.
          patched: [
            (copy) => patch(join(copy, backend), 15),
            new RegExp(`${backend} of .* has the sha256 .*, and the receipt says`),
          ],
          lacking: [(copy) => rmSync(join(copy, backend)), new RegExp(`the receipt names ${backend}, which .* does not load`)],
          "with another": [
            (copy) => cpSync(join(copy, backend), join(copy, "libggml-cpu-zen9.so")),
            /loads libggml-cpu-zen9\.so, which is not among the files of the receipt/,
          ],
        };
        for (const [copy, [change, reason]] of Object.entries(changes)) {
          change(folderOf(copy));
          for (const library of [at(copy), join(at(copy), name)]) {
            const refused = (await verifyReceipt(receipt, { library })).refusals;
            expect(refused).toEqual([{ code: "library-digest", reason: expect.stringMatching(reason) as string }]);
          }
        }
        // What is no part of a build changes nothing.
        writeFileSync(join(folderOf("with more"), "libother.so"), "");
        expect((await verifyReceipt(receipt, { library: at("with more") })).refusals).toEqual([]);

        patch(join(at("genuine"), backend), 15);
        await own.unloadIdle();
        const later = own.generate("a", { model: tiny("q8_0"), target: "library", maxNewTokens: 1 });
        await expect(later).rejects.toThrow(`is another library than the one that was validated: the sha256 of ${backend} is`);
      } finally {
        await own.dispose();
      }
    },
  );

  it("are of language models", async () => {
    await expect(createReceipt(runtime, { model: "builtin" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(createReceipt(runtime, { model: tiny("f32"), tokens: 0 })).rejects.toMatchObject({ message: "tokens is 0" });
    await expect(verifyReceipt({}, { publicKey: "x" })).resolves.toMatchObject({ accepted: false });
  });

  it("are signed, verified and refused by the commands, with keys that openssl makes", async () => {
    const openssl = (...args: string[]): number | null => spawnSync("openssl", args).status;
    expect(openssl("genpkey", "-algorithm", "ed25519", "-out", at("key.pem"))).toBe(0);
    expect(openssl("pkey", "-in", at("key.pem"), "-pubout", "-out", at("public.pem"))).toBe(0);
    expect(openssl("genpkey", "-algorithm", "ed25519", "-out", at("other.pem"))).toBe(0);
    expect(openssl("pkey", "-in", at("other.pem"), "-pubout", "-out", at("other-public.pem"))).toBe(0);
    const file = at("receipt.json");
    const run = ["receipt", "--model", tiny("q8_0"), "--target", "native", "--prompt", "small jump", "--tokens", "4"];
    const made = await inferyard([...run, "--output", file, "--sign", at("key.pem"), "--json"]);
    expect(made).toMatchObject({ code: 0, stdout: readFileSync(file, "utf8") });
    const verify = (...more: string[]): ReturnType<typeof inferyard> => inferyard(["verify-receipt", file, ...more]);
    const accepted = await verify("--key", at("public.pem"), "--require-kernel", "Q8_0_*");
    expect(accepted).toMatchObject({ code: 0, stderr: "" });
    expect(accepted.stdout).toContain("ACCEPTED");
    const refused = await verify("--key", at("other-public.pem"), "--require-kernel", "I2S_QK256_*", "--library", at("key.pem"));
    expect(refused.code).toBe(1);
    expect(await verify("--key", at("other.pem"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("this is a private key") as string,
    });
    for (const code of ["wrong-key", "required-kernel", "library-digest"]) expect(refused.stderr).toContain(`  ${code}: `);
    const receipt = JSON.parse(readFileSync(file, "utf8")) as Receipt;
    writeFileSync(file, formatReceipt({ ...receipt, figures: { ...receipt.figures, loadMs: receipt.figures.loadMs + 0.25 } }));
    const { code, stdout } = await verify("--json");
    expect([code, JSON.parse(stdout.split("\n")[0] ?? "")]).toEqual([
      1,
      expect.objectContaining({ accepted: false, refusals: [expect.objectContaining({ code: "altered" })] }),
    ]);
  });
});
