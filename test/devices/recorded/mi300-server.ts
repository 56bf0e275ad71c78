/** A server with two AMD Instinct MI300X. Composed in the layout of the kernel's KFD topology and of rocminfo 6. */
import type { Recording } from "./recording.ts";
import { noGpu } from "./no-gpu.ts";

const topology = "/sys/class/kfd/kfd/topology/nodes";
const memoryBytes = 206_141_652_992;

const gpuProperties = (renderMinor: number, uniqueId: string): string => `cpu_cores_count 0
simd_count 1216
mem_banks_count 1
gfx_target_version 90402
vendor_id 4098
device_id 29857
drm_render_minor ${renderMinor}
unique_id ${uniqueId}
local_mem_size 0
`;

const agent = (number: number, node: number): string => `*******                  
Agent ${number}                  
*******                  
  Name:                    gfx942                             
  Uuid:                    GPU-3cbdcb37e0b90ea${node}               
  Marketing Name:          AMD Instinct MI300X                
  Vendor Name:             AMD                                
  Node:                    ${node}                                  
  Device Type:             GPU                                
`;

/** The machine of `noGpu` with two AMD Instinct MI300X (gfx942) of 206,141,652,992 bytes each. */
export const mi300Server: Recording = {
  ...noGpu,
  files: {
    ...noGpu.files,
    "/dev/kfd": "",
    [`${topology}/0/properties`]: "cpu_cores_count 96\nsimd_count 0\ngfx_target_version 0\nvendor_id 0\ndrm_render_minor 0\n",
    [`${topology}/0/mem_banks/0/properties`]: "heap_type 0\nsize_in_bytes 270520770560\nflags 0\n",
    [`${topology}/1/properties`]: gpuProperties(128, "4376936076086227261"),
    [`${topology}/1/mem_banks/0/properties`]: `heap_type 1\nsize_in_bytes ${memoryBytes}\nflags 0\nwidth 8192\n`,
    [`${topology}/2/properties`]: gpuProperties(136, "4376936076086227262"),
    [`${topology}/2/mem_banks/0/properties`]: `heap_type 1\nsize_in_bytes ${memoryBytes}\nflags 0\nwidth 8192\n`,
    "/sys/class/drm/renderD128/device/mem_info_vram_total": `${memoryBytes}\n`,
    "/sys/class/drm/renderD128/device/mem_info_vram_used": "297508864\n",
    "/sys/class/drm/renderD136/device/mem_info_vram_total": `${memoryBytes}\n`,
    "/sys/class/drm/renderD136/device/mem_info_vram_used": "1000000000\n",
    "/opt/rocm/bin/rocminfo": "",
  },
  commands: {
    "/opt/rocm/bin/rocminfo ": `ROCk module is loaded
HSA Agents               
*******                  
Agent 1                  
*******                  
  Name:                    AMD EPYC 9534 64-Core Processor    
  Marketing Name:          AMD EPYC 9534 64-Core Processor    
  Node:                    0                                  
  Device Type:             CPU                                
${agent(2, 1)}${agent(3, 2)}`,
  },
};
