/** Devices that backends compute on. */

/** Device type. Third parties may use names of their own. */
export type DeviceType =
  | "cpu"
  | "cuda"
  | "coreml"
  | "directml"
  | "rocm"
  | "openvino"
  | "tensorrt"
  | "webgpu"
  | "metal"
  | "vulkan"
  | "tpu"
  | "npu"
  | (string & {});

/** A device of a backend. `index` numbers the devices of one type from 0. */
export interface Device {
  readonly type: DeviceType;
  readonly index: number;
}
