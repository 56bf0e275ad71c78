/**
 * Inferyard as a chat model of LangChain.js (`@langchain/core` 1).
 *
 * @module langchain
 */
export {
  ChatInferyard,
  type ChatInferyardCallOptions,
  type ChatInferyardFields,
  type ChatInferyardOptions,
} from "./chat-model.ts";
