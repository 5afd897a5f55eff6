/** A terminal of both outputs, as a person sees it: every line, without what was taken away again. */
export class Screen {
  lines: string[] = [''];

  /** Understands what the live region uses: going up, to the start of a line, and clearing all below. */
  write(text: string): void {
    for (const [part] of text.matchAll(/\u001b\[(\d+)A|\u001b\[J|\r|\n|[^\u001b\r\n]+/g)) {
      const last = this.lines.length - 1;
      if (part === '\n') this.lines.push('');
      else if (part === '\r') this.lines[last] = '';
      else if (part.endsWith('A')) this.lines.length -= Number(part.slice(2, -1));
      else if (part === '\u001b[J') this.lines[last] = '';
      else this.lines[last] = `${this.lines[last]}${part}`;
    }
  }
}
