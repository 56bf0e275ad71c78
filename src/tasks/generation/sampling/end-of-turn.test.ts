import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../../../models/index.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { type Tokenizer, loadTokenizer } from "../../../tokenizers/index.ts";
import { getGenerationConfig, getTurnEnd } from "./end-of-turn.ts";

const folder = fileURLToPath(new URL("../../../../../shared/data/reports/eos-tokenizer/model", import.meta.url));

describe.skipIf(!existsSync(folder))("the end of a turn", () => {
  let manifest: Manifest;
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    manifest = await readManifest(folder);
    tokenizer = await loadTokenizer(manifest.text!);
  });

  it("is every end token of the files, that of generation_config.json first", () => {
    expect(getGenerationConfig(manifest, tokenizer).endTokens).toEqual([258, 260]);
    expect(getGenerationConfig({ ...manifest, generation: { eos_token_id: [1, 258] } }, tokenizer).endTokens).toEqual([
      1, 258, 260,
    ]);
    expect(getGenerationConfig({ ...manifest, generation: {} }, undefined).endTokens).toEqual([260]);
  });

  it.each([
    ["<|im_end|>\n", { endTokens: [260] }],
    [" \n<|im_end|><|im_start|>", { endTokens: [260] }],
    ["<|fin|>\nuser", { stop: ["<|fin|>"] }],
    ["<用户>a", { stop: ["<用户>"] }],
    ["<｜end▁of▁sentence｜>", { stop: ["<｜end▁of▁sentence｜>"] }],
    ["<seed:eos>", { stop: ["<seed:eos>"] }],
    ["", {}],
    ["\n\nUser: a", {}],
    ["[INST] a", {}],
  ])("that a template writes as %j is its token, or its first word if that looks like a token", (written, end) => {
    expect(getTurnEnd(written, tokenizer)).toEqual(end);
  });
});
