/** Program of the thread of `ResultDecoder`: answers each result in bytes with the decoded one, in order. */
import { parentPort } from "node:worker_threads";
import { decodeResult } from "./chunk.ts";
import { type DecodeReply, toReply } from "./result-decoder.ts";

parentPort?.on("message", (bytes: Uint8Array) => {
  let reply: DecodeReply;
  try {
    reply = { result: decodeResult(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) };
  } catch (error) {
    reply = toReply(error);
  }
  const buffer = reply.result?.output.buffer;
  parentPort?.postMessage(reply, buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize ? [buffer] : []);
});
