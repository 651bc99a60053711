// SPDX-License-Identifier: Apache-2.0
//
// An app over a library that has Petrel inside: app.cc, whose main has another name there.
int run_layer(int argc, char** argv);

int main(int argc, char** argv) { return run_layer(argc, argv); }
