/** The backend `onnx`: onnxruntime-node, with every execution provider it offers on this platform. */
export { onnx } from "./backend.ts";
