/** Written by `npm run engine-packages` from package-lock.json. */
import type { EnginePackage } from "./engine-package.ts";

/** By the name of what is installed: its packages, with paths below the folder that they are installed in. */
export const enginePackages: Readonly<Record<"onnx" | "llamacpp" | "koffi", readonly EnginePackage[]>> = {
  onnx: [
    {
      path: "node_modules/onnxruntime-common",
      version: "1.30.0",
      integrity: "sha512-7fdVWjAID1dVhH/G8qK3APARunV4VkBFoCQAP7qp4Wkab0mrorvmc+sqiT+mKXOzDqdjN5j+/Z9nb4gzNPWcyA==",
    },
    {
      path: "node_modules/onnxruntime-node",
      version: "1.30.0",
      integrity: "sha512-twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==",
      os: ["win32", "darwin", "linux"],
    },
  ],
  llamacpp: [
    {
      path: "node_modules/@huggingface/jinja",
      version: "0.5.11",
      integrity: "sha512-YzEzwM5oQf4r0vs7ifWQ+yuVR1YkAHrjERQ+a8WRsStHHp4NRBg+NesjiFc+X2AFUpRvvrIeHDS1xFy9jY/IjQ==",
    },
    {
      path: "node_modules/@isaacs/fs-minipass",
      version: "4.0.1",
      integrity: "sha512-wgm9Ehl2jpeqP3zw/7mo3kRHFp5MEDhqAdwy1fTGkHAwnkGOVsgpvQhL8B5n1qlb01jV3n/bI0ZfZp5lWA1k4w==",
    },
    {
      path: "node_modules/@kwsites/file-exists",
      version: "1.1.1",
      integrity: "sha512-m9/5YGR18lIwxSFDwfE3oA7bWuq9kdau6ugN4H2rJeyhFQZcG9AgSHkQtSD15a8WvTgfz9aikZMrKPHvbpqFiw==",
    },
    {
      path: "node_modules/@kwsites/promise-deferred",
      version: "1.1.1",
      integrity: "sha512-GaHYm+c0O9MjZRu0ongGBRbinu8gVAMd2UZjji6jVmqKtZluZnptXGWhz1E8j8D2HJ3f/yMxKAUC0b+57wncIw==",
    },
    {
      path: "node_modules/@node-llama-cpp/linux-arm64",
      version: "3.22.1",
      integrity: "sha512-W+7naKCXX9/eEjjFmRS8vvx91QyLXDbeFxexZc3bh/PtQABZgmRL3C0AtYYXn4YGTj/3Qor4lWZn2tpjZFPLdQ==",
      os: ["linux"],
      cpu: ["arm64", "x64"],
    },
    {
      path: "node_modules/@node-llama-cpp/linux-armv7l",
      version: "3.22.1",
      integrity: "sha512-v/pHg4BcQHRDna+YYq4vWp44HCFluar4hAiB732Pa5PF89flMXhHSku68tQn+25RJjuc3TtoeY/i57WnX9GrdQ==",
      os: ["linux"],
      cpu: ["arm", "x64"],
    },
    {
      path: "node_modules/@node-llama-cpp/linux-x64",
      version: "3.22.1",
      integrity: "sha512-5uCCDNqWCNfaAm8aR/Uzxbo4HBpKgNF91kCHPepKhgMgV2OAmatoefbOlMihsqCiH2Od35E/eUHQCFbfRBJuOg==",
      os: ["linux"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/@node-llama-cpp/linux-x64-cuda",
      version: "3.22.1",
      integrity: "sha512-8rQCjyNNLZJUFit+YpjwlC4hwkKgOMIkB2wuycKBf8NU2O3ySKbiWZQ8aw9ku2nUTXjSnUIrE6KB88itduTBuA==",
      os: ["linux"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/@node-llama-cpp/linux-x64-cuda-ext",
      version: "3.22.1",
      integrity: "sha512-4e5ajkiM2aR2WAdB/N/ACk4weEhHvOAIrzxZPsIX0xDFW5+6hhShuy1/vs88SK9NGdgAco9IyE28eYS0H1efpA==",
      os: ["linux"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/@node-llama-cpp/linux-x64-vulkan",
      version: "3.22.1",
      integrity: "sha512-bBxqU+JOcBu1nb5Qj2zcMci+JByT1E8EajHvYodyNfVIPkEhXh+/HMwR1/BT7xP08YK0hks+kM8fglER0P8JEg==",
      os: ["linux"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/@simple-git/args-pathspec",
      version: "1.0.4",
      integrity: "sha512-EtMX6XjRWSastG2SdkmSQByPtJ9dx/NIjnHbpQPCYt62j4RmSx5rgLTGpw0YCjF5h191gZOmBfheOT23cRSFdw==",
    },
    {
      path: "node_modules/@simple-git/argv-parser",
      version: "1.1.1",
      integrity: "sha512-Q9lBcfQ+VQCpQqGJFHe5yooOS5hGdLFFbJ5R+R5aDsnkPCahtn1hSkMcORX65J2Z5lxSkD0lQorMsncuBQxYUw==",
    },
    {
      path: "node_modules/@tinyhttp/content-disposition",
      version: "2.2.4",
      integrity: "sha512-5Kc5CM2Ysn3vTTArBs2vESUt0AQiWZA86yc1TI3B+lxXmtEq133C1nxXNOgnzhrivdPZIh3zLj5gDnZjoLL5GA==",
    },
    {
      path: "node_modules/ansi-regex",
      version: "6.6.0",
      integrity: "sha512-XZ5apbzreCbXSKwPjJstu8R0zOi247w3XYwWxtwBXgpZrCyc1Ka7p9/xY0A9/diMewmHbEKz+FIraWaEWjlN5g==",
    },
    {
      path: "node_modules/ansi-styles",
      version: "4.3.0",
      integrity: "sha512-zbB9rCJAT1rbjiVDb2hqKFHNYLxgtk8NURxZ3IZwD3F6NtxbXZQCnnSi1Lkx+IDohdPlFp222wVALIheZJQSEg==",
    },
    {
      path: "node_modules/async-retry",
      version: "1.3.3",
      integrity: "sha512-wfr/jstw9xNi/0teMHrRW7dsz3Lt5ARhYNZ2ewpadnhaIp5mbALhOAP+EAdsC7t4Z6wqsDVv9+W6gm1Dk9mEyw==",
    },
    {
      path: "node_modules/bytes",
      version: "3.1.2",
      integrity: "sha512-/Nf7TyzTx6S3yRJObOAV7956r8cr2+Oj8AC5dt8wSP3BQAoeX58NoHyCU8P8zGkNXStjTSi6fzO6F0pBdcYbEg==",
    },
    {
      path: "node_modules/chmodrp",
      version: "1.0.2",
      integrity: "sha512-TdngOlFV1FLTzU0o1w8MB6/BFywhtLC0SzRTGJU7T9lmdjlCWeMRt1iVo0Ki+ldwNk0BqNiKoc8xpLZEQ8mY1w==",
    },
    {
      path: "node_modules/chownr",
      version: "3.0.0",
      integrity: "sha512-+IxzY9BZOQd/XuYPRmrvEVjF/nqj5kgT4kEq7VofrDoM1MxoRjEWkrCC3EtLi59TVawxTAn+orJwFQcrqEN1+g==",
    },
    {
      path: "node_modules/ci-info",
      version: "4.5.0",
      integrity: "sha512-d1uM8k5UZEyPza1n/MG3ko8nKupKN0KJpFsipgPcgaCCvV+IqIfJ+NzTjetlLM+UcXZx3+cLrNr76+eAO7G1Mw==",
    },
    {
      path: "node_modules/cli-cursor",
      version: "5.0.0",
      integrity: "sha512-aCj4O5wKyszjMmDT4tZj93kxyydN/K5zPWSCe6/0AV/AA1pqe5ZBIw0a2ZfPQV7lL5/yb5HsUreJ6UFAF1tEQw==",
    },
    {
      path: "node_modules/cli-spinners",
      version: "2.9.2",
      integrity: "sha512-ywqV+5MmyL4E7ybXgKys4DugZbX0FC6LnwrhjuykIjnK9k8OQacQ7axGKnjDXWNhns0xot3bZI5h55H8yo9cJg==",
    },
    {
      path: "node_modules/cmake-js",
      version: "8.0.0",
      integrity: "sha512-YbUP88RDwCvoQkZhRtGURYm9RIpWdtvZuhT87fKNoLjk8kIFIFeARpKfuZQGdwfH99GZpUmqSfcDrK62X7lTgg==",
    },
    {
      path: "node_modules/cmake-js/node_modules/cliui",
      version: "8.0.1",
      integrity: "sha512-BSeNnyus75C4//NQ9gQt1/csTXyo/8Sb+afLAkzAptFuMsod9HFokGNudZpi/oQV73hnVK+sR+5PVRMd+Dr7YQ==",
    },
    {
      path: "node_modules/cmake-js/node_modules/yargs",
      version: "17.7.3",
      integrity: "sha512-GZtjxm/J/4TSxuL3FNYjCmLktBTnIw/rVmKSIyKeYAZpmJB2ig9VauCC5xsa82GNKVKDAqpOn3KVzNt0zmrU0g==",
    },
    {
      path: "node_modules/cmake-js/node_modules/yargs-parser",
      version: "21.1.1",
      integrity: "sha512-tVpsJW7DdjecAiFpbIB1e3qxIQsE6NoPc5/eTdrbbIC4h0LVsWhnoa3g+m2HclBIujHzsxZ4VJVA+GUuc2/LBw==",
    },
    {
      path: "node_modules/color-convert",
      version: "2.0.1",
      integrity: "sha512-RRECPsj7iu/xb5oKYcsFHSppFNnsj/52OVTRKb4zP5onXwVF3zVmmToNcOfGC+CRDpfK/U584fMg38ZHCaElKQ==",
    },
    {
      path: "node_modules/color-name",
      version: "1.1.4",
      integrity: "sha512-dOy+3AuW3a2wNbZHIuMZpTcgjGuLU/uBL/ubcZF9OXbDo8ff4O8yVp5Bf0efS8uEoYo5q4Fx7dY9OgQGXgAsQA==",
    },
    {
      path: "node_modules/cross-spawn",
      version: "7.0.6",
      integrity: "sha512-uV2QOWP2nWzsy2aMp8aRibhi9dlzF5Hgh5SHaB9OiTGEyDTiJJyx0uy51QXdyWbtAHNua4XJzUKca3OzKUd3vA==",
    },
    {
      path: "node_modules/cross-spawn/node_modules/isexe",
      version: "2.0.0",
      integrity: "sha512-RHxMLp9lnKHGHRng9QFhRCMbYAcVpn69smSGcq3f36xjgVVWThj4qqLbTLlq7Ssj8B+fIQ1EuCEGI2lKsyQeIw==",
    },
    {
      path: "node_modules/cross-spawn/node_modules/which",
      version: "2.0.2",
      integrity: "sha512-BLI3Tl1TW3Pvl70l3yq3Y64i+awpwXqsGBYWkkqMtnbXgrMD+yj7rhW0kuEDxzJaYXGjEW5ogapKNMEKNMjibA==",
    },
    {
      path: "node_modules/debug",
      version: "4.4.3",
      integrity: "sha512-RGwwWnwQvkVfavKVt22FGLw+xYSdzARwm0ru6DhTVA3umU5hZc28V3kO4stgYryrTlLpuvgI9GiijltAjNbcqA==",
    },
    {
      path: "node_modules/deep-extend",
      version: "0.6.0",
      integrity: "sha512-LOHxIOaPYdHlJRtCQfDIVZtfw/ufM8+rVj649RIHzcm/vGwQRXFt6OPqIFWsm2XEMrNIEtWR64sY1LEKD2vAOA==",
    },
    {
      path: "node_modules/emoji-regex",
      version: "8.0.0",
      integrity: "sha512-MSjYzcWNOA0ewAHpz0MxpYFvwg6yjy1NG3xteoqz644VCo/RPgnr1/GGt+ic3iJTzQ8Eu3TdM14SawnVUmGE6A==",
    },
    {
      path: "node_modules/env-var",
      version: "7.5.0",
      integrity: "sha512-mKZOzLRN0ETzau2W2QXefbFjo5EF4yWq28OyKb9ICdeNhHJlOE/pHHnz4hdYJ9cNZXcJHo5xN4OT4pzuSHSNvA==",
    },
    {
      path: "node_modules/escalade",
      version: "3.2.0",
      integrity: "sha512-WUj2qlxaQtO4g6Pq5c29GTcWGDyd8itL8zTlipgECz3JesAiiOKotd8JU6otB3PACgG6xkJUyVhboMS+bje/jA==",
    },
    {
      path: "node_modules/filename-reserved-regex",
      version: "3.0.0",
      integrity: "sha512-hn4cQfU6GOT/7cFHXBqeBg2TbrMBgdD0kcjLhvSQYYwm3s4B6cjvBfb7nBALJLAXqmU5xajSa7X2NnUud/VCdw==",
    },
    {
      path: "node_modules/filenamify",
      version: "6.0.0",
      integrity: "sha512-vqIlNogKeyD3yzrm0yhRMQg8hOVwYcYRfjEoODd49iCprMn4HL85gK3HcykQE53EPIpX3HcAbGA5ELQv216dAQ==",
    },
    {
      path: "node_modules/fs-extra",
      version: "11.4.1",
      integrity: "sha512-KYAb4c9BJQI6QqGKthV68OHe0badztdXJWKo0WtBA9IuCFPTKvE5ZdUBglP833aMjhaSPNO4A5j/EkzZtGlKjA==",
    },
    {
      path: "node_modules/get-caller-file",
      version: "2.0.5",
      integrity: "sha512-DyFP3BM/3YHTQOCUL/w0OZHR0lpKeGrxotcHWcqNEdnltqFwXVfhEBQ94eIo34AfQpo0rGki4cyIiftY06h2Fg==",
    },
    {
      path: "node_modules/get-east-asian-width",
      version: "1.7.0",
      integrity: "sha512-XjH1AECxf0giL2V1aU8vKyRR2ppRUb5c0EvT7zuJTokQ74bNo52zOtghqdWIqrhUD79fo3x0WfKZdOqxF6LG1Q==",
    },
    {
      path: "node_modules/graceful-fs",
      version: "4.2.12",
      integrity: "sha512-iuyGF2E4oafQfPsRrG2wtY2ILupMhvtdrhzrxB+0VcjsPpSPttpfYdjnGFGsTi5MaJFjI1jOKHPQ6UTbTj9TAw==",
    },
    {
      path: "node_modules/ignore",
      version: "7.0.16",
      integrity: "sha512-52N+Y4HRMOJmbLmr+DqO4iSRyyB7N52gm7PWCT6h0p978+oKbqHCB7gIJIwZvBUsjlSdWbrBFqUSmIFNZMpn0A==",
    },
    {
      path: "node_modules/ini",
      version: "1.3.8",
      integrity: "sha512-JV/yugV2uzW5iMRSiZAyDtQd+nxtUnjeLt0acNdw98kKLrvuRVyB80tsREOE7yvGVgalhZ6RNXCmEHkUKBKxew==",
    },
    {
      path: "node_modules/ipull",
      version: "3.9.5",
      integrity: "sha512-5w/yZB5lXmTfsvNawmvkCjYo4SJNuKQz/av8TC1UiOyfOHyaM+DReqbpU2XpWYfmY+NIUbRRH8PUAWsxaS+IfA==",
    },
    {
      path: "node_modules/ipull/node_modules/ansi-styles",
      version: "6.2.3",
      integrity: "sha512-4Dj6M28JB+oAH8kFkTLUo+a2jwOFkuqb3yucU0CANcRRUbxS0cP0nZYCGjcc3BNXwRIsUVmDGgzawme7zvJHvg==",
    },
    {
      path: "node_modules/ipull/node_modules/chalk",
      version: "5.6.2",
      integrity: "sha512-7NzBL0rN6fMUW+f7A6Io4h40qQlG+xGmtMxfbnH/K7TAtt8JQWVQK+6g0UXKMeVJoyV5EkkNsErQ8pVD3bLHbA==",
    },
    {
      path: "node_modules/ipull/node_modules/commander",
      version: "10.0.1",
      integrity: "sha512-y4Mg2tXshplEbSGzx7amzPwKKOCGuoSRP/CjEdwwk0FOGlUbq6lKuoyDZTNZkmxHdJtp54hdfY/JUrdL7Xfdug==",
    },
    {
      path: "node_modules/ipull/node_modules/eventemitter3",
      version: "5.0.4",
      integrity: "sha512-mlsTRyGaPBjPedk6Bvw+aqbsXDtoAyAzm5MO7JgU+yVRyMQ5O8bD4Kcci7BS85f93veegeCPkL8R4GLClnjLFw==",
    },
    {
      path: "node_modules/ipull/node_modules/is-fullwidth-code-point",
      version: "5.1.0",
      integrity: "sha512-5XHYaSyiqADb4RnZ1Bdad6cPp8Toise4TzEjcOYDHZkTCbKgiUl7WTUCpNWHuxmDt91wnsZBc9xinNzopv3JMQ==",
    },
    {
      path: "node_modules/ipull/node_modules/lifecycle-utils",
      version: "2.1.0",
      integrity: "sha512-AnrXnE2/OF9PHCyFg0RSqsnQTzV991XaZA/buhFDoc58xU7rhSCDgCz/09Lqpsn4MpoPHt7TRAXV1kWZypFVsA==",
    },
    {
      path: "node_modules/ipull/node_modules/parse-ms",
      version: "3.0.0",
      integrity: "sha512-Tpb8Z7r7XbbtBTrM9UhpkzzaMrqA2VXMT3YChzYltwV3P3pM6t8wl7TvpMnSTosz1aQAdVib7kdoys7vYOPerw==",
    },
    {
      path: "node_modules/ipull/node_modules/pretty-ms",
      version: "8.0.0",
      integrity: "sha512-ASJqOugUF1bbzI35STMBUpZqdfYKlJugy6JBziGi2EE+AL5JPJGSzvpeVXojxrr0ViUYoToUjb5kjSEGf7Y83Q==",
    },
    {
      path: "node_modules/ipull/node_modules/slice-ansi",
      version: "7.1.2",
      integrity: "sha512-iOBWFgUX7caIZiuutICxVgX1SdxwAVFFKwt1EvMYYec/NWO5meOJ6K5uQxhrYBdQJne4KxiqZc+KptFOWFSI9w==",
    },
    {
      path: "node_modules/ipull/node_modules/strip-ansi",
      version: "7.2.0",
      integrity: "sha512-yDPMNjp4WyfYBkHnjIRLfca1i6KMyGCtsVgoKe/z1+6vukgaENdgGBZt+ZmKPc4gavvEZ5OgHfHdrazhgNyG7w==",
    },
    {
      path: "node_modules/is-fullwidth-code-point",
      version: "3.0.0",
      integrity: "sha512-zymm5+u+sCsSWyD9qNaejV3DFvhCKclKdizYaJUuHA83RLjb7nSuGnddCHGv0hk+KY7BMAlsWeK4Ueg6EV6XQg==",
    },
    {
      path: "node_modules/is-interactive",
      version: "2.0.0",
      integrity: "sha512-qP1vozQRI+BMOPcjFzrjXuQvdak2pHNUMZoeG2eRbiSqyvbEf/wQtEOTOX1guk6E3t36RkaqiSt8A/6YElNxLQ==",
    },
    {
      path: "node_modules/is-unicode-supported",
      version: "2.1.0",
      integrity: "sha512-mE00Gnza5EEB3Ds0HfMyllZzbBrmLOX3vfWoj9A9PEnTfratQ/BcaJOuMhnkhjXvb2+FkY3VuHqtAGpTPmglFQ==",
    },
    {
      path: "node_modules/isexe",
      version: "4.0.0",
      integrity: "sha512-FFUtZMpoZ8RqHS3XeXEmHWLA4thH+ZxCv2lOiPIn1Xc7CxrqhWzNSDzD+/chS/zbYezmiwWLdQC09JdQKmthOw==",
    },
    {
      path: "node_modules/jsonfile",
      version: "6.2.1",
      integrity: "sha512-zwOTdL3rFQ/lRdBnntKVOX6k5cKJwEc1HdilT71BWEu7J41gXIB2MRp+vxduPSwZJPWBxEzv4yH1wYLJGUHX4Q==",
    },
    {
      path: "node_modules/lifecycle-utils",
      version: "4.5.2",
      integrity: "sha512-3C1g98pNKGmtakPeIfRqvOiiBJflKAvNjo/WsDI/70vsOy/DJDoutsLM+wGuAdfcOitlbUQfl6UcfvyeIimh7g==",
    },
    {
      path: "node_modules/lodash.debounce",
      version: "4.0.8",
      integrity: "sha512-FT1yDzDYEoYWhnSGnpE/4Kj1fLZkDFyqRb7fNt6FdYOSxlUWAtp42Eh6Wb0rGIv/m9Bgo7x4GhQbm5Ys4SG5ow==",
    },
    {
      path: "node_modules/log-symbols",
      version: "7.0.1",
      integrity: "sha512-ja1E3yCr9i/0hmBVaM0bfwDjnGy8I/s6PP4DFp+yP+a+mrHO4Rm7DtmnqROTUkHIkqffC84YY7AeqX6oFk0WFg==",
    },
    {
      path: "node_modules/lowdb",
      version: "7.0.1",
      integrity: "sha512-neJAj8GwF0e8EpycYIDFqEPcx9Qz4GUho20jWFR7YiFeXzF1YMLdxB36PypcTSPMA+4+LvgyMacYhlr18Zlymw==",
    },
    {
      path: "node_modules/mimic-function",
      version: "5.0.1",
      integrity: "sha512-VP79XUPxV2CigYP3jWwAUFSku2aKqBH7uTAapFWCBqutsbmDo96KY5o8uh6U+/YSIn5OxJnXp73beVkpqMIGhA==",
    },
    {
      path: "node_modules/minimist",
      version: "1.2.8",
      integrity: "sha512-2yyAR8qBkN3YuheJanUpWC5U3bb5osDywNB8RzDVlDwDHbocAJveqqj1u8+SVD7jkWT4yvsHCpWqqWqAxb0zCA==",
    },
    {
      path: "node_modules/minipass",
      version: "7.1.3",
      integrity: "sha512-tEBHqDnIoM/1rXME1zgka9g6Q2lcoCkxHLuc7ODJ5BxbP5d4c2Z5cGgtXAku59200Cx7diuHTOYfSBD8n6mm8A==",
    },
    {
      path: "node_modules/minizlib",
      version: "3.1.0",
      integrity: "sha512-KZxYo1BUkWD2TVFLr0MQoM8vUUigWD3LlD83a/75BqC+4qE0Hb1Vo5v1FgcfaNXvfXzr+5EhQ6ing/CaBijTlw==",
    },
    {
      path: "node_modules/ms",
      version: "2.1.3",
      integrity: "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==",
    },
    {
      path: "node_modules/node-addon-api",
      version: "8.9.2",
      integrity: "sha512-VijLXbi3UACN69I0JVXJsX4tjACjNoQDgv2gTF6sx2wWEi8tkSg2eX8p5gSIFi8z2+DL3oHmY6OyKce38SDolg==",
    },
    {
      path: "node_modules/node-api-headers",
      version: "1.9.0",
      integrity: "sha512-2oNILP4jXwRB4ywnYKjVk1YyJ96n2D4EOVJO6S3oYZ5PtbJrw3Yt9TpAuX3nBLMuzn74rnfGQrv13pS9vC+YiA==",
    },
    {
      path: "node_modules/node-llama-cpp",
      version: "3.22.1",
      integrity: "sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/chalk",
      version: "5.6.2",
      integrity: "sha512-7NzBL0rN6fMUW+f7A6Io4h40qQlG+xGmtMxfbnH/K7TAtt8JQWVQK+6g0UXKMeVJoyV5EkkNsErQ8pVD3bLHbA==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/cliui",
      version: "8.0.1",
      integrity: "sha512-BSeNnyus75C4//NQ9gQt1/csTXyo/8Sb+afLAkzAptFuMsod9HFokGNudZpi/oQV73hnVK+sR+5PVRMd+Dr7YQ==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/cliui/node_modules/ansi-regex",
      version: "5.0.1",
      integrity: "sha512-quJQXlTSUGL2LH9SUXo8VwsY4soanhgo6LNSm84E1LBcE8s3O0wpdiRzyR9z/ZZJMlMWv37qOOb9pdJlMUEKFQ==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/cliui/node_modules/strip-ansi",
      version: "6.0.1",
      integrity: "sha512-Y38VPSHcqkFrCpFnQ9vuSXmquuv5oXOKpGeT6aGrr3o3Gc9AlVa6JBfUSOCnbxGGZF+/0ooI7KrPuUSztUdU5A==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/nanoid",
      version: "5.1.16",
      integrity: "sha512-kVrnsrJqMR8+oLJnGEmSWw9BivK5mt7H3FZatVRjrc5wGqFYuBxX1yG7+A7Gi5AefkX6t/oCkizcQgpu0cY1dQ==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/strip-ansi",
      version: "7.2.0",
      integrity: "sha512-yDPMNjp4WyfYBkHnjIRLfca1i6KMyGCtsVgoKe/z1+6vukgaENdgGBZt+ZmKPc4gavvEZ5OgHfHdrazhgNyG7w==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/validate-npm-package-name",
      version: "7.0.2",
      integrity: "sha512-hVDIBwsRruT73PbK7uP5ebUt+ezEtCmzZz3F59BSr2F6OVFnJ/6h8liuvdLrQ88Xmnk6/+xGGuq+pG9WwTuy3A==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/yargs",
      version: "17.7.3",
      integrity: "sha512-GZtjxm/J/4TSxuL3FNYjCmLktBTnIw/rVmKSIyKeYAZpmJB2ig9VauCC5xsa82GNKVKDAqpOn3KVzNt0zmrU0g==",
    },
    {
      path: "node_modules/node-llama-cpp/node_modules/yargs-parser",
      version: "21.1.1",
      integrity: "sha512-tVpsJW7DdjecAiFpbIB1e3qxIQsE6NoPc5/eTdrbbIC4h0LVsWhnoa3g+m2HclBIujHzsxZ4VJVA+GUuc2/LBw==",
    },
    {
      path: "node_modules/onetime",
      version: "7.0.0",
      integrity: "sha512-VXJjc87FScF88uafS3JllDgvAm+c/Slfz06lorj2uAY34rlUu0Nt+v8wreiImcrgAjjIHp1rXpTDlLOGw29WwQ==",
    },
    {
      path: "node_modules/ora",
      version: "9.4.1",
      integrity: "sha512-6VlU9MLXbjVQD04AZCMX28hVtA5bUoadvUqO76MUCVA0ilwJbMiHsITRPfyVm6p/BC0Av/BXMujx39WCe1LEqw==",
    },
    {
      path: "node_modules/ora/node_modules/chalk",
      version: "5.6.2",
      integrity: "sha512-7NzBL0rN6fMUW+f7A6Io4h40qQlG+xGmtMxfbnH/K7TAtt8JQWVQK+6g0UXKMeVJoyV5EkkNsErQ8pVD3bLHbA==",
    },
    {
      path: "node_modules/ora/node_modules/cli-spinners",
      version: "3.4.0",
      integrity: "sha512-bXfOC4QcT1tKXGorxL3wbJm6XJPDqEnij2gQ2m7ESQuE+/z9YFIWnl/5RpTiKWbMq3EVKR4fRLJGn6DVfu0mpw==",
    },
    {
      path: "node_modules/ora/node_modules/string-width",
      version: "8.3.0",
      integrity: "sha512-ZbmZM0JCihQN91dWnxoipT2KOEyHqEyfRXUyjuRhW8b/xnqPDoq4gWEVApTVa9db2wN8mmoikgFBbjh71+cGeQ==",
    },
    {
      path: "node_modules/ora/node_modules/strip-ansi",
      version: "7.2.0",
      integrity: "sha512-yDPMNjp4WyfYBkHnjIRLfca1i6KMyGCtsVgoKe/z1+6vukgaENdgGBZt+ZmKPc4gavvEZ5OgHfHdrazhgNyG7w==",
    },
    {
      path: "node_modules/parse-ms",
      version: "4.0.0",
      integrity: "sha512-TXfryirbmq34y8QBwgqCVLi+8oA3oWx2eAnSn62ITyEhEYaWRlVZ2DvMM9eZbMs/RfxPu/PK/aBLyGj4IrqMHw==",
    },
    {
      path: "node_modules/path-key",
      version: "3.1.1",
      integrity: "sha512-ojmeN0qd+y0jszEtoY48r0Peq5dwMEkIlCOu6Q5f41lfkswXuKtYrhgoTpLnyIcHm24Uhqx+5Tqm2InSwLhE6Q==",
    },
    {
      path: "node_modules/pretty-bytes",
      version: "6.1.1",
      integrity: "sha512-mQUvGU6aUFQ+rNvTIAcZuWGRT9a6f6Yrg9bHs4ImKF+HZCEK+plBvnAZYSIQztknZF2qnzNtr6F8s0+IuptdlQ==",
    },
    {
      path: "node_modules/pretty-ms",
      version: "9.3.1",
      integrity: "sha512-HzMy3Geq23nVALD/M2LliU+F+M+gVNsvkQWWqeBZ8HDiCgzo6YPJ/Omrmtq24EFrIsk0a3EkQGEd7bDOo+IhGA==",
    },
    {
      path: "node_modules/proper-lockfile",
      version: "4.1.2",
      integrity: "sha512-TjNPblN4BwAWMXU8s9AEz4JmQxnD1NNL7bNOY/AKUzyamc379FWASUhc/K1pL2noVb+XmZKLL68cjzLsiOAMaA==",
    },
    {
      path: "node_modules/proper-lockfile/node_modules/retry",
      version: "0.12.0",
      integrity: "sha512-9LkiTwjUh6rT555DtE9rTX+BKByPfrMzEAtnlEtdEwr3Nkffwiihqe2bWADg+OQRjt9gl6ICdmB/ZFDCGAtSow==",
    },
    {
      path: "node_modules/rc",
      version: "1.2.8",
      integrity: "sha512-y3bGgqKj3QBdxLbLkomlohkvsA8gdAiUQlSBJnBhfn+BPxg4bc62d8TcBW15wavDfgexCgccckhcZvywyQYPOw==",
    },
    {
      path: "node_modules/rc/node_modules/strip-json-comments",
      version: "2.0.1",
      integrity: "sha512-4gB8na07fecVVkOI6Rs4e7T6NOTki5EmL7TUduTs6bu3EdnSycntVJ4re8kgZA+wx9IueI2Y11bfbgwtzuE0KQ==",
    },
    {
      path: "node_modules/require-directory",
      version: "2.1.1",
      integrity: "sha512-fGxEI7+wsG9xrvdjsrlmL22OMTTiHRwAMroiEeMgq8gzoLC/PQr7RsRDSTLUg/bZAZtF+TVIkHc6/4RIKrui+Q==",
    },
    {
      path: "node_modules/restore-cursor",
      version: "5.1.0",
      integrity: "sha512-oMA2dcrw6u0YfxJQXm342bFKX/E4sG9rbTzO9ptUcR/e8A33cHuvStiYOwH7fszkZlZ1z/ta9AAoPk2F4qIOHA==",
    },
    {
      path: "node_modules/restore-cursor/node_modules/signal-exit",
      version: "4.1.0",
      integrity: "sha512-bzyZ1e88w9O1iNJbKnOlvYTrWPDl46O1bG0D3XInv+9tkPrxrN8jUUTiFlDkkmKWgn1M6CfIA13SuGqOa9Korw==",
    },
    {
      path: "node_modules/retry",
      version: "0.13.1",
      integrity: "sha512-XQBQ3I8W1Cge0Seh+6gjj03LbmRFWuoszgK9ooCpwYIrhhoO80pfq4cUkU5DkknwfOfFteRwlZ56PYOGYyFWdg==",
    },
    {
      path: "node_modules/semver",
      version: "7.8.6",
      integrity: "sha512-9lpSSU4Mly3mrtruwLs1eLK6+gzbzqeBFwRNjIjE+9LuDpWdYctrQlQ3ej1Ilgi7gknpsTRnPoLP8DpCHqHIJw==",
    },
    {
      path: "node_modules/shebang-command",
      version: "2.0.0",
      integrity: "sha512-kHxr2zZpYtdmrN1qDjrrX/Z1rR1kG8Dx+gkpK1G4eXmvXswmcE1hTWBWYUzlraYw1/yZp6YuDY77YtvbN0dmDA==",
    },
    {
      path: "node_modules/shebang-regex",
      version: "3.0.0",
      integrity: "sha512-7++dFhtcx3353uBaq8DDR4NuxBetBzC7ZQOhmTQInHEd6bSrXdiEyzCvG07Z44UYdLShWUyXt5M/yhz8ekcb1A==",
    },
    {
      path: "node_modules/signal-exit",
      version: "3.0.7",
      integrity: "sha512-wnD2ZE+l+SPC/uoS0vXeE9L1+0wuaMqKlfz9AMUo38JsyLSBWSFcHR1Rri62LZc12vLr1gb3jl7iwQhgwpAbGQ==",
    },
    {
      path: "node_modules/simple-git",
      version: "3.36.0",
      integrity: "sha512-cGQjLjK8bxJw4QuYT7gxHw3/IouVESbhahSsHrX97MzCL1gu2u7oy38W6L2ZIGECEfIBG4BabsWDPjBxJENv9Q==",
    },
    {
      path: "node_modules/sleep-promise",
      version: "9.1.0",
      integrity: "sha512-UHYzVpz9Xn8b+jikYSD6bqvf754xL2uBUzDFwiU6NcdZeifPr6UfgU43xpkPu67VMS88+TI2PSI7Eohgqf2fKA==",
    },
    {
      path: "node_modules/slice-ansi",
      version: "8.0.0",
      integrity: "sha512-stxByr12oeeOyY2BlviTNQlYV5xOj47GirPr4yA1hE9JCtxfQN0+tVbkxwCtYDQWhEKWFHsEK48ORg5jrouCAg==",
    },
    {
      path: "node_modules/slice-ansi/node_modules/ansi-styles",
      version: "6.2.3",
      integrity: "sha512-4Dj6M28JB+oAH8kFkTLUo+a2jwOFkuqb3yucU0CANcRRUbxS0cP0nZYCGjcc3BNXwRIsUVmDGgzawme7zvJHvg==",
    },
    {
      path: "node_modules/slice-ansi/node_modules/is-fullwidth-code-point",
      version: "5.1.0",
      integrity: "sha512-5XHYaSyiqADb4RnZ1Bdad6cPp8Toise4TzEjcOYDHZkTCbKgiUl7WTUCpNWHuxmDt91wnsZBc9xinNzopv3JMQ==",
    },
    {
      path: "node_modules/stdin-discarder",
      version: "0.3.2",
      integrity: "sha512-eCPu1qRxPVkl5605OTWF8Wz40b4Mf45NY5LQmVPQ599knfs5QhASUm9GbJ5BDMDOXgrnh0wyEdvzmL//YMlw0A==",
    },
    {
      path: "node_modules/stdout-update",
      version: "4.0.1",
      integrity: "sha512-wiS21Jthlvl1to+oorePvcyrIkiG/6M3D3VTmDUlJm7Cy6SbFhKkAvX+YBuHLxck/tO3mrdpC/cNesigQc3+UQ==",
    },
    {
      path: "node_modules/stdout-update/node_modules/ansi-escapes",
      version: "6.2.1",
      integrity: "sha512-4nJ3yixlEthEJ9Rk4vPcdBRkZvQZlYyu8j4/Mqz5sgIkddmEnH2Yj2ZrnP9S3tQOvSNRUIgVNF/1yPpRAGNRig==",
    },
    {
      path: "node_modules/stdout-update/node_modules/ansi-styles",
      version: "6.2.3",
      integrity: "sha512-4Dj6M28JB+oAH8kFkTLUo+a2jwOFkuqb3yucU0CANcRRUbxS0cP0nZYCGjcc3BNXwRIsUVmDGgzawme7zvJHvg==",
    },
    {
      path: "node_modules/stdout-update/node_modules/emoji-regex",
      version: "10.6.0",
      integrity: "sha512-toUI84YS5YmxW219erniWD0CIVOo46xGKColeNQRgOzDorgBi1v4D71/OFzgD9GO2UGKIv1C3Sp8DAn0+j5w7A==",
    },
    {
      path: "node_modules/stdout-update/node_modules/string-width",
      version: "7.2.0",
      integrity: "sha512-tsaTIkKW9b4N+AEj+SVA+WhJzV7/zMhcSu78mLKWSk7cXMOSHsBKFWUs0fWwq8QyK3MgJBQRX6Gbi4kYbdvGkQ==",
    },
    {
      path: "node_modules/stdout-update/node_modules/strip-ansi",
      version: "7.2.0",
      integrity: "sha512-yDPMNjp4WyfYBkHnjIRLfca1i6KMyGCtsVgoKe/z1+6vukgaENdgGBZt+ZmKPc4gavvEZ5OgHfHdrazhgNyG7w==",
    },
    {
      path: "node_modules/steno",
      version: "4.0.2",
      integrity: "sha512-yhPIQXjrlt1xv7dyPQg2P17URmXbuM5pdGkpiMB3RenprfiBlvK415Lctfe0eshk90oA7/tNq7WEiMK8RSP39A==",
    },
    {
      path: "node_modules/string-width",
      version: "4.2.3",
      integrity: "sha512-wKyQRQpjJ0sIp62ErSZdGsjMJWsap5oRNihHhu6G7JVO/9jIB6UyevL+tXuOqrng8j/cxKTWyWUwvSTriiZz/g==",
    },
    {
      path: "node_modules/strip-ansi",
      version: "6.0.1",
      integrity: "sha512-Y38VPSHcqkFrCpFnQ9vuSXmquuv5oXOKpGeT6aGrr3o3Gc9AlVa6JBfUSOCnbxGGZF+/0ooI7KrPuUSztUdU5A==",
    },
    {
      path: "node_modules/strip-ansi/node_modules/ansi-regex",
      version: "5.0.1",
      integrity: "sha512-quJQXlTSUGL2LH9SUXo8VwsY4soanhgo6LNSm84E1LBcE8s3O0wpdiRzyR9z/ZZJMlMWv37qOOb9pdJlMUEKFQ==",
    },
    {
      path: "node_modules/tar",
      version: "7.5.23",
      integrity: "sha512-lkukzdoGngZHJZXxW4S/E4Fp9ghTDlyZXrQGRNoJ/LXvDKcXUTq2sg5yQe74po7Voea6n/IN09+wE/QvJMiifA==",
    },
    {
      path: "node_modules/universalify",
      version: "2.0.1",
      integrity: "sha512-gptHNQghINnc/vTGIk0SOFGFNXw7JVrlRUtConJRlvaw6DuX0wO5Jeko9sWrMBhh+PsYAZ7oXAiOnf/UKogyiw==",
    },
    {
      path: "node_modules/url-join",
      version: "4.0.1",
      integrity: "sha512-jk1+QP6ZJqyOiuEI9AEWQfju/nB2Pw466kbA0LEZljHwKeMgd9WrAEgEGxjPDD2+TNbbb37rTyhEfrCXfuKXnA==",
    },
    {
      path: "node_modules/which",
      version: "6.0.1",
      integrity: "sha512-oGLe46MIrCRqX7ytPUf66EAYvdeMIZYn3WaocqqKZAxrBpkqHfL/qvTyJ/bTk5+AqHCjXmrv3CEWgy368zhRUg==",
    },
    {
      path: "node_modules/wrap-ansi",
      version: "7.0.0",
      integrity: "sha512-YVGIj2kamLSTxw6NsZjoBxfSwsn0ycdesmc4p+Q21c5zPuZ1pl+NfxVdxPtdHvmNVOQ6XSYG4AUtyt/Fi7D16Q==",
    },
    {
      path: "node_modules/y18n",
      version: "5.0.8",
      integrity: "sha512-0pfFzegeDWJHJIAmTLRP2DwHjdF5s7jo9tuztdQxAhINCdvS+3nGINqPd00AphqJR/0LhANUS6/+7SCb98YOfA==",
    },
    {
      path: "node_modules/yallist",
      version: "5.0.0",
      integrity: "sha512-YgvUTfwqyc7UXVMrB+SImsVYSmTS8X/tSrtdNZMImM+n7+QTriRXyXim0mBrTXNeqzVF0KWGgHPeiyViFFrNDw==",
    },
    {
      path: "node_modules/yoctocolors",
      version: "2.2.0",
      integrity: "sha512-xYqdZFUK/VYazNl/oCDYN+3WloWQwMfZxBoiNt6qNyk+xfOdi598muWE42rNZFp1kNOiqW936q5RhUdnpqElSg==",
    },
  ],
  koffi: [
    {
      path: "node_modules/@koromix/koffi-darwin-arm64",
      version: "3.3.4",
      integrity: "sha512-KWc1kRttFZrFWo3bJKsmiQd/wLIaxs2eIFY10US0PcC93nBfvKOqhGrYK6DNprRMoGwSN99wxIFBJrHDAqw5ew==",
      os: ["darwin"],
      cpu: ["arm64"],
    },
    {
      path: "node_modules/@koromix/koffi-darwin-x64",
      version: "3.3.4",
      integrity: "sha512-QYRCBepdGNL5Nj8UH+mzd4sTuNGtkmYCUBTyOmoksDMXGfM03MMdZg49c42mQE7blYh28H9qeeB0NHU/acN0ng==",
      os: ["darwin"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/@koromix/koffi-linux-arm64",
      version: "3.3.4",
      integrity: "sha512-k6FPjEYDioyVihUqvRFX4QZK0RL/Rrn4xPEzrKxODxgLAUXlhBTut391zPzgsMcArXgN4YTuS11M/kxmA5s+Fg==",
      os: ["linux"],
      cpu: ["arm64"],
    },
    {
      path: "node_modules/@koromix/koffi-linux-x64",
      version: "3.3.4",
      integrity: "sha512-xi47MKuoQ9fA2SsrH6wljl9t9120hO66qEmb1le6q636q55J974cZfcwDrK5nW1GalJ+0NLXoH2T3/NGQBzPNw==",
      os: ["linux"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/@koromix/koffi-win32-arm64",
      version: "3.3.4",
      integrity: "sha512-TQLDhDMfq7x8fhIzD4FdqJ7QxEgkHLrcN8Bj6wPHbf85OyXtOLHCw7VRj9PZ6+uyPfaqnb25gmHQuEK8WxR3vg==",
      os: ["win32"],
      cpu: ["arm64"],
    },
    {
      path: "node_modules/@koromix/koffi-win32-x64",
      version: "3.3.4",
      integrity: "sha512-/SpehfYrO9DtkoB0ZOgGyco4GH4zwhEyFqgCm0x8lbzXnrKiwnHXWmPpfuXhFYohFvoSO5jlLQz/hc1fJ5G0AQ==",
      os: ["win32"],
      cpu: ["x64"],
    },
    {
      path: "node_modules/koffi",
      version: "3.3.4",
      integrity: "sha512-31Vr+LM+w1dEsNcOJtJWvYyUTjVc/SWOxNDZJxfhsBC6qZ5YVn98n5x1oBbDq5skxCbWD4SByJpNmq63fvg9Aw==",
    },
  ],
};
