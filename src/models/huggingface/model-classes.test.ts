import { describe, expect, it } from "vitest";
import { modelClasses, getModelClass } from "./model-classes.ts";

describe("the class of a model", () => {
  it.each([
    [{ model_type: "bert", architectures: ["BertForMaskedLM"] }, "BertModel", "BertForMaskedLM"],
    [{ model_type: "bert", architectures: ["BertForPreTraining"] }, "BertModel", "BertForMaskedLM"],
    [{ model_type: "xlm-roberta", architectures: ["HF_ColBERT"] }, "XLMRobertaModel", "XLMRobertaModel"],
    [{ model_type: "qwen3", architectures: ["Qwen3ForCausalLM"] }, "Qwen3Model", "Qwen3ForCausalLM"],
    [{ model_type: "t5", architectures: ["T5ForConditionalGeneration"] }, "T5EncoderModel", "T5ForConditionalGeneration"],
    [{ model_type: "roberta" }, "RobertaModel", "RobertaModel"],
    [{ model_type: "gpt2" }, "GPT2Model", "GPT2LMHeadModel"],
    [{ model_type: "unheard-of", architectures: ["UnheardOfForMaskedLM"] }, "UnheardOfForMaskedLM", "UnheardOfForMaskedLM"],
    [{ architectures: ["BertForMaskedLM"] }, "BertForMaskedLM", "BertForMaskedLM"],
    [{ model_type: "constructor" }, undefined, undefined],
    [{}, undefined, undefined],
  ])("of %j is %s for its hidden states, otherwise %s", (config, headless, otherwise) => {
    expect([getModelClass(config, true), getModelClass(config, false)]).toEqual([headless, otherwise]);
  });

  it("is the stated one where the folder has code of its own", () => {
    const config = { model_type: "bert", architectures: ["JinaBertForMaskedLM"], auto_map: { AutoModel: "code.JinaBertModel" } };
    expect(getModelClass(config, true)).toBe("JinaBertForMaskedLM");
  });

  it("is one of those that the engine builds", async () => {
    const { architectureNames, encoderDecoderNames } = await import("../../engine/transformers/architecture-names.ts");
    const built = new Set([...architectureNames, ...encoderDecoderNames]);
    const named = Object.values(modelClasses).flatMap(({ headless, language }) => [headless, language ?? headless]);
    expect(named.filter((each) => !built.has(each))).toEqual([]);
  });
});
