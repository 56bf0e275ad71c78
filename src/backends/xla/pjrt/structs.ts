/**
 * The functions of the PJRT C API that are used, and the layouts of their arguments (pjrt_c_api.h of OpenXLA). Offsets of functions and fields are
 * the same in all versions from 0.54 on; later versions add fields at the end.
 */
import { type FieldType, type StructLayout, layOut } from "../../../libraries/ffi/index.ts";

type Field = readonly [name: string, type: FieldType];

/** Every struct of arguments begins with its size and a list of extensions, which is empty here. */
const head: readonly Field[] = [
  ["struct_size", "uint64"],
  ["extension_start", "pointer"],
];

const define = (name: string, fields: readonly Field[]): StructLayout => layOut(name, [...head, ...fields]);

const text = (name: string): readonly Field[] => [
  [name, "pointer"],
  [`${name}_size`, "uint64"],
];

/** Optional statistics of a device's memory, in the order of their struct. */
const memoryStatistics = [
  "peak_bytes_in_use",
  "num_allocs",
  "largest_alloc_size",
  "bytes_limit",
  "bytes_reserved",
  "peak_bytes_reserved",
  "bytes_reservable_limit",
  "largest_free_block_bytes",
  "pool_bytes",
  "peak_pool_bytes",
] as const;

/** Names of the PJRT functions in use, without the prefix PJRT_. */
export type PjrtFunctionName =
  | "Error_Destroy"
  | "Error_Message"
  | "Error_GetCode"
  | "Plugin_Initialize"
  | "Plugin_Attributes"
  | "Event_Destroy"
  | "Event_IsReady"
  | "Event_Await"
  | "Client_Create"
  | "Client_Destroy"
  | "Client_PlatformName"
  | "Client_PlatformVersion"
  | "Client_AddressableDevices"
  | "Client_Compile"
  | "Client_BufferFromHostBuffer"
  | "DeviceDescription_Kind"
  | "Device_GetDescription"
  | "Device_MemoryStats"
  | "Executable_Destroy"
  | "Executable_NumOutputs"
  | "Executable_OutputElementTypes"
  | "Executable_Serialize"
  | "LoadedExecutable_Destroy"
  | "LoadedExecutable_GetExecutable"
  | "LoadedExecutable_Execute"
  | "Executable_DeserializeAndLoad"
  | "Buffer_Destroy"
  | "Buffer_ToHostBuffer"
  | "Buffer_ReadyEvent"
  | "Buffer_UnsafePointer"
  | "Executable_GetCompiledMemoryStats";

/** A function: its index in the table of `PJRT_Api`, from 0, and the layout of its arguments. */
export interface PjrtFunction {
  readonly slot: number;
  readonly layout: StructLayout;
}

/** The PJRT functions in use, by name. */
export const pjrtFunctions: Readonly<Record<PjrtFunctionName, PjrtFunction>> = {
  Error_Destroy: { slot: 0, layout: define("PJRT_Error_Destroy_Args", [["error", "pointer"]]) },
  Error_Message: { slot: 1, layout: define("PJRT_Error_Message_Args", [["error", "pointer"], ...text("message")]) },
  Error_GetCode: {
    slot: 2,
    layout: define("PJRT_Error_GetCode_Args", [
      ["error", "pointer"],
      ["code", "int32"],
    ]),
  },
  Plugin_Initialize: { slot: 3, layout: define("PJRT_Plugin_Initialize_Args", []) },
  Plugin_Attributes: {
    slot: 4,
    layout: define("PJRT_Plugin_Attributes_Args", [
      ["attributes", "pointer"],
      ["num_attributes", "uint64"],
    ]),
  },
  Event_Destroy: { slot: 5, layout: define("PJRT_Event_Destroy_Args", [["event", "pointer"]]) },
  Event_IsReady: {
    slot: 6,
    layout: define("PJRT_Event_IsReady_Args", [
      ["event", "pointer"],
      ["is_ready", "bool"],
    ]),
  },
  Event_Await: { slot: 8, layout: define("PJRT_Event_Await_Args", [["event", "pointer"]]) },
  Client_Create: {
    slot: 10,
    layout: define("PJRT_Client_Create_Args", [
      ["create_options", "pointer"],
      ["num_options", "uint64"],
      ["kv_get_callback", "pointer"],
      ["kv_get_user_arg", "pointer"],
      ["kv_put_callback", "pointer"],
      ["kv_put_user_arg", "pointer"],
      ["client", "pointer"],
      ["kv_try_get_callback", "pointer"],
      ["kv_try_get_user_arg", "pointer"],
    ]),
  },
  Client_Destroy: { slot: 11, layout: define("PJRT_Client_Destroy_Args", [["client", "pointer"]]) },
  Client_PlatformName: {
    slot: 12,
    layout: define("PJRT_Client_PlatformName_Args", [["client", "pointer"], ...text("platform_name")]),
  },
  Client_PlatformVersion: {
    slot: 14,
    layout: define("PJRT_Client_PlatformVersion_Args", [["client", "pointer"], ...text("platform_version")]),
  },
  Client_AddressableDevices: {
    slot: 16,
    layout: define("PJRT_Client_AddressableDevices_Args", [
      ["client", "pointer"],
      ["addressable_devices", "pointer"],
      ["num_addressable_devices", "uint64"],
    ]),
  },
  Client_Compile: {
    slot: 20,
    layout: define("PJRT_Client_Compile_Args", [
      ["client", "pointer"],
      ["program", "pointer"],
      ["compile_options", "pointer"],
      ["compile_options_size", "uint64"],
      ["executable", "pointer"],
    ]),
  },
  Client_BufferFromHostBuffer: {
    slot: 22,
    layout: define("PJRT_Client_BufferFromHostBuffer_Args", [
      ["client", "pointer"],
      ["data", "pointer"],
      ["type", "int32"],
      ["dims", "pointer"],
      ["num_dims", "uint64"],
      ["byte_strides", "pointer"],
      ["num_byte_strides", "uint64"],
      ["host_buffer_semantics", "int32"],
      ["device", "pointer"],
      ["memory", "pointer"],
      ["device_layout", "pointer"],
      ["done_with_host_buffer", "pointer"],
      ["buffer", "pointer"],
    ]),
  },
  DeviceDescription_Kind: {
    slot: 26,
    layout: define("PJRT_DeviceDescription_Kind_Args", [["device_description", "pointer"], ...text("device_kind")]),
  },
  Device_GetDescription: {
    slot: 29,
    layout: define("PJRT_Device_GetDescription_Args", [
      ["device", "pointer"],
      ["device_description", "pointer"],
    ]),
  },
  Device_MemoryStats: {
    slot: 34,
    layout: define("PJRT_Device_MemoryStats_Args", [
      ["device", "pointer"],
      ["bytes_in_use", "int64"],
      ...memoryStatistics.flatMap((name): readonly Field[] => [
        [name, "int64"],
        [`${name}_is_set`, "bool"],
      ]),
    ]),
  },
  Executable_Destroy: { slot: 40, layout: define("PJRT_Executable_Destroy_Args", [["executable", "pointer"]]) },
  Executable_NumOutputs: {
    slot: 44,
    layout: define("PJRT_Executable_NumOutputs_Args", [
      ["executable", "pointer"],
      ["num_outputs", "uint64"],
    ]),
  },
  Executable_OutputElementTypes: {
    slot: 90,
    layout: define("PJRT_Executable_OutputElementTypes_Args", [
      ["executable", "pointer"],
      ["output_types", "pointer"],
      ["num_output_types", "uint64"],
    ]),
  },
  Executable_Serialize: {
    slot: 49,
    layout: define("PJRT_Executable_Serialize_Args", [
      ["executable", "pointer"],
      ...text("serialized_bytes"),
      ["serialized_executable", "pointer"],
      ["serialized_executable_deleter", "pointer"],
    ]),
  },
  LoadedExecutable_Destroy: { slot: 50, layout: define("PJRT_LoadedExecutable_Destroy_Args", [["executable", "pointer"]]) },
  LoadedExecutable_GetExecutable: {
    slot: 51,
    layout: define("PJRT_LoadedExecutable_GetExecutable_Args", [
      ["loaded_executable", "pointer"],
      ["executable", "pointer"],
    ]),
  },
  LoadedExecutable_Execute: {
    slot: 55,
    layout: define("PJRT_LoadedExecutable_Execute_Args", [
      ["executable", "pointer"],
      ["options", "pointer"],
      ["argument_lists", "pointer"],
      ["num_devices", "uint64"],
      ["num_args", "uint64"],
      ["output_lists", "pointer"],
      ["device_complete_events", "pointer"],
      ["execute_device", "pointer"],
    ]),
  },
  Executable_DeserializeAndLoad: {
    slot: 56,
    layout: define("PJRT_Executable_DeserializeAndLoad_Args", [
      ["client", "pointer"],
      ...text("serialized_executable"),
      ["loaded_executable", "pointer"],
      ["overridden_serialized_compile_options", "pointer"],
      ["overridden_serialized_compile_options_size", "uint64"],
    ]),
  },
  Buffer_Destroy: { slot: 58, layout: define("PJRT_Buffer_Destroy_Args", [["buffer", "pointer"]]) },
  Buffer_ToHostBuffer: {
    slot: 70,
    layout: define("PJRT_Buffer_ToHostBuffer_Args", [
      ["src", "pointer"],
      ["host_layout", "pointer"],
      ["dst", "pointer"],
      ["dst_size", "uint64"],
      ["event", "pointer"],
    ]),
  },
  Buffer_ReadyEvent: {
    slot: 72,
    layout: define("PJRT_Buffer_ReadyEvent_Args", [
      ["buffer", "pointer"],
      ["event", "pointer"],
    ]),
  },
  Buffer_UnsafePointer: {
    slot: 73,
    layout: define("PJRT_Buffer_UnsafePointer_Args", [
      ["buffer", "pointer"],
      ["buffer_pointer", "uint64"],
    ]),
  },
  Executable_GetCompiledMemoryStats: {
    slot: 96,
    layout: define("PJRT_Executable_GetCompiledMemoryStats_Args", [
      ["executable", "pointer"],
      ["generated_code_size_in_bytes", "int64"],
      ["argument_size_in_bytes", "int64"],
      ["output_size_in_bytes", "int64"],
      ["alias_size_in_bytes", "int64"],
      ["temp_size_in_bytes", "int64"],
      ["host_generated_code_size_in_bytes", "int64"],
      ["host_argument_size_in_bytes", "int64"],
      ["host_output_size_in_bytes", "int64"],
      ["host_alias_size_in_bytes", "int64"],
      ["host_temp_size_in_bytes", "int64"],
      ["peak_memory_in_bytes", "int64"],
    ]),
  },
};

/** PJRT_Program: the code of a program and the name of its format. */
export const programLayout: StructLayout = define("PJRT_Program", [...text("code"), ...text("format")]);

/** Options of a run; all stay zero. The size is taken from the version with the most fields; older plugins accept a larger size. */
export const executeOptionsLayout: StructLayout = define("PJRT_ExecuteOptions", [
  ["send_callbacks", "pointer"],
  ["recv_callbacks", "pointer"],
  ["num_send_ops", "uint64"],
  ["num_recv_ops", "uint64"],
  ["launch_id", "int32"],
  ["non_donatable_input_indices", "pointer"],
  ["num_non_donatable_input_indices", "uint64"],
  ["context", "pointer"],
  ["call_location", "pointer"],
  ["num_tasks", "uint64"],
  ["task_ids", "pointer"],
  ["incarnation_ids", "pointer"],
  ["multi_slice_config", "pointer"],
]);

/** A named value: an option of a client, or an attribute of a plugin. */
export const namedValueLayout: StructLayout = define("PJRT_NamedValue", [
  ...text("name"),
  ["type", "int32"],
  ["value", "int64"],
  ["value_size", "uint64"],
]);
