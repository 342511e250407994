// node run.cjs program.elf START STOP: runs a program of the harness in rp2040js, whose files are
// those of the current directory, and prints as JSON what it took from address START to STOP, the
// last time that it came by: {"instructions", "cycles", "code"}.
"use strict";
const fs = require("fs");
const { RP2040 } = require("rp2040js");

const MOST_INSTRUCTIONS = 2e9;
const FLASH = 0x10000000;
const RAM = 0x20000000;

const [file, start, stop] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const chip = new RP2040();
const silent = () => {};
chip.logger = { debug: silent, info: silent, warn: silent, error: silent };

function load(elf) {
  const headers = elf.readUInt32LE(28);
  for (let i = 0; i < elf.readUInt16LE(44); i++) {
    const at = headers + 32 * i;
    const [type, offset, , address, size] = [0, 4, 8, 12, 16].map((o) => elf.readUInt32LE(at + o));
    const bytes = elf.subarray(offset, offset + size);
    if (type === 1 && size > 0) {
      if (address >= RAM) chip.sram.set(bytes, address - RAM);
      else chip.flash.set(bytes, address - FLASH);
    }
  }
}

// Semihosting, what the harness uses of it; handles are numbers from 1 on.
const files = [];
let code = null;
function semihost(operation, block) {
  const word = (i) => chip.readUint32(block + 4 * i);
  const text = (at, size) => {
    let s = "";
    for (let i = 0; size === undefined ? chip.readUint8(at + i) : i < size; i++) {
      s += String.fromCharCode(chip.readUint8(at + i));
    }
    return s;
  };
  switch (operation) {
    case 0x01: // SYS_OPEN
      return files.push(fs.openSync(text(word(0), word(2)), word(1) >= 4 ? "w" : "r"));
    case 0x02: // SYS_CLOSE
      fs.closeSync(files[word(0) - 1]);
      return 0;
    case 0x04: // SYS_WRITE0
      process.stderr.write(text(block));
      return 0;
    case 0x05: { // SYS_WRITE: returns the bytes that were not moved
      const bytes = Buffer.alloc(word(2));
      for (let i = 0; i < bytes.length; i++) bytes[i] = chip.readUint8(word(1) + i);
      return bytes.length - fs.writeSync(files[word(0) - 1], bytes);
    }
    case 0x06: { // SYS_READ, the same
      const bytes = Buffer.alloc(word(2));
      const moved = fs.readSync(files[word(0) - 1], bytes);
      for (let i = 0; i < moved; i++) chip.writeUint8(word(1) + i, bytes[i]);
      return bytes.length - moved;
    }
    case 0x20: // SYS_EXIT_EXTENDED
      code = word(1);
      return 0;
    default:
      throw new Error(`semihosting operation ${operation} is unknown`);
  }
}

load(fs.readFileSync(file));
const core = chip.core;
core.SP = chip.readUint32(FLASH);
core.PC = chip.readUint32(FLASH + 4) & ~1;
chip.onBreak = () => {
  core.registers[0] = semihost(core.registers[0], core.registers[1]);
};
let [instructions, began, found] = [0, null, null];
while (code === null && instructions < MOST_INSTRUCTIONS) {
  if (core.PC === start) began = { instructions, cycles: core.cycles };
  if (core.PC === stop && began !== null) {
    found = { instructions: instructions - began.instructions, cycles: core.cycles - began.cycles };
    began = null;
  }
  core.executeInstruction();
  instructions++;
}
console.log(JSON.stringify({ ...found, code }));
