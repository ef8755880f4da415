// SPDX-License-Identifier: MIT
declare const messages: Record<string, Record<string, string>>;
export = messages;
