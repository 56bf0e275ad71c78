/** What `index.ts` builds, apart from it: asking for the names loads no engine. */
const encoders = ["Bert", "Roberta", "XLMRoberta", "Camembert", "DistilBert"].flatMap((family) =>
  ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"].map(
    (head) => family + head,
  ),
);

const decoders = ["Llama", "Mistral", "Qwen2", "Gemma"].flatMap((family) => [`${family}Model`, `${family}ForCausalLM`]);

/** Class names, as config.json's `architectures` has them. */
export const transformerNames: readonly string[] = [...encoders, "GPT2Model", "GPT2LMHeadModel", ...decoders];
