/** The command `transcribe`: text, subtitles and JSON of a sound file. */
import { describe, expect, it } from "vitest";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const model = `${sharedData}tiny-random-whisper`;
const sound = `${model}/chirp-2s.wav`;
const [skip, name] = needsData("the command transcribe");

describe.skipIf(skip)(name, () => {
  // The model has random weights: its text is kept at any probability, and is not drawn.
  const flags = ["--model", model, "--target", "onnx:cpu", "--language", "en", "--temperature", "0", "--silence-threshold", "2"];

  it("prints JSON, which says where it ran", async () => {
    const { code, stdout } = await inferyard(["transcribe", sound, ...flags, "--format", "json", "--max-new-tokens", "8"]);
    expect(code).toBe(0);
    const { text, segments, ...others } = JSON.parse(stdout) as { text: string; segments: { text: string }[] };
    expect(
      segments
        .map((segment) => segment.text)
        .join("")
        .trim(),
    ).toBe(text);
    expect(others).toMatchObject({ language: "en", duration: 2, target: "onnx:cpu" });
  });

  it("prints text and subtitles", async () => {
    const print = async (format: string): Promise<string> =>
      (
        await inferyard([
          "transcribe",
          sound,
          ...flags,
          "--quiet",
          "--timestamps",
          "none",
          "--max-new-tokens",
          "8",
          "--format",
          format,
        ])
      ).stdout;
    const [text, srt, vtt] = [await print("text"), await print("srt"), await print("vtt")];
    expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/);
    expect(vtt).toMatch(/^WEBVTT\n\n00:00:0\d\.\d{3} --> /);
    expect(srt.split("\n")[2]).toBe(text.split("\n")[0]);
  });

  it("refuses a file that is not there, and one that is no sound", async () => {
    expect(await inferyard(["transcribe", "nowhere.wav", ...flags])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nowhere.wav") as string,
    });
    const { code, stderr } = await inferyard(["transcribe", `${model}/config.json`, ...flags]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("sound");
    expect((await inferyard(["transcribe", sound, ...flags, "--temperature", "warm"])).stderr).toContain("--temperature is warm");
  });
});
