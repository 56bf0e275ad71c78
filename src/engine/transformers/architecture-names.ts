/** What `index.ts` builds, apart from it: asking for the names loads no engine. */
const heads = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"];

const encoders = [
  ...["Bert", "Roberta", "XLMRoberta", "Camembert", "DistilBert", "DebertaV2"].flatMap((family) =>
    heads.map((head) => family + head),
  ),
  ...heads.slice(0, -1).map((head) => `ModernBert${head}`),
];

const decoders = ["Llama", "Mistral", "Qwen2", "Gemma"].flatMap((family) => [`${family}Model`, `${family}ForCausalLM`]);

const encoderDecoders = ["T5", "MT5"].flatMap((family) => [`${family}EncoderModel`, `${family}ForConditionalGeneration`]);

/** Class names, as config.json's `architectures` has them. */
export const architectureNames: readonly string[] = [
  ...encoders,
  "GPT2Model",
  "GPT2LMHeadModel",
  ...decoders,
  ...encoderDecoders,
];
