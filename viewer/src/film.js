// A film of the canvas that the browser encodes itself: WebM, or what it has instead. Nothing is installed, nothing is sent away.

const KINDS = [["video/webm;codecs=vp9", "webm"], ["video/webm;codecs=vp8", "webm"], ["video/webm", "webm"], ["video/mp4", "mp4"]];

export class Film {
  static kind() {
    return globalThis.MediaRecorder ? KINDS.find(([type]) => MediaRecorder.isTypeSupported(type)) : undefined;
  }
  static possible() {
    return !!(Film.kind() && HTMLCanvasElement.prototype.captureStream);
  }

  constructor(canvas, onError) {
    const [type, ending] = Film.kind();
    this.ending = ending;
    this.parts = [];
    this.stream = canvas.captureStream(30);
    this.recorder = new MediaRecorder(this.stream, { mimeType: type, videoBitsPerSecond: 8e6 });
    this.recorder.ondataavailable = (e) => e.data.size && this.parts.push(e.data);
    this.recorder.onerror = (e) => onError(`The browser cannot write the film: ${e.error?.message ?? "unknown reason"}`);
    this.recorder.start(500);
  }

  // Ends it and hands the file over as a download; resolves to its size in bytes.
  async save(name) {
    await new Promise((resolve) => {
      this.recorder.onstop = resolve;
      this.recorder.stop();
    });
    for (const track of this.stream.getTracks()) track.stop();
    const blob = new Blob(this.parts, { type: this.recorder.mimeType }), link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.${this.ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    return blob.size;
  }
}
