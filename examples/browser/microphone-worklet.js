// Runs on the page's sound thread: posts copies of what the microphone gives, 128 samples at a time.
class Microphone extends AudioWorkletProcessor {
  process([[channel]]) {
    if (channel !== undefined) this.port.postMessage(channel.slice());
    return true;
  }
}

registerProcessor("microphone", Microphone);
