// SPDX-License-Identifier: Apache-2.0
import io.petrel.DType;
import io.petrel.Module;
import io.petrel.PetrelException;
import io.petrel.Tensor;
import java.io.FileInputStream;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/** Runs programs, and makes every kind of mistake. Ends with 1 at the first one that is wrong. */
public final class ModuleTest {
  private static final int SAMPLE = 65;

  private static byte[] samples;
  private static String files;

  public static void main(String[] arguments) throws Exception {
    files = arguments[0];
    samples = Files.readAllBytes(Paths.get(arguments[1]));
    classifies(Module.load(files + "/inline.pte"), 1);
    classifies(Module.load(files + "/external.pte", files + "/external.ptd"), 1);
    classifies(
        Module.load(
            files + "/external.pte",
            new Module.Options()
                .setDataFiles(files + "/external.ptd")
                .setNumThreads(2)
                .setMapsFiles(false)),
        1);
    takesPartsOfFiles();
    takesBuffers();
    keepsMemory();
    threadsWaitForEachOther();
    takesAnyFileName();
    saysWhatIsWrong();
    tensorsCheckTheirSizes();
    System.out.println("all is well");
  }

  private static Tensor image(int index) {
    float[] pixels = new float[64];
    for (int i = 0; i < 64; i++) pixels[i] = samples[index * SAMPLE + i] / 16f;
    return Tensor.fromBlob(pixels, 1, 1, 8, 8);
  }

  private static int largest(Tensor scores) {
    float[] numbers = scores.getDataAsFloatArray();
    int best = 0;
    for (int i = 1; i < numbers.length; i++) best = numbers[i] > numbers[best] ? i : best;
    return best;
  }

  private static void classifies(Module module, int times) {
    try (Module open = module) {
      check(Arrays.equals(open.getMethods(), new String[] {"forward"}), "methods");
      open.loadMethod("forward");
      for (int time = 0; time < times; time++) {
        int right = 0;
        for (int i = 0; i < 50; i++) {
          Tensor scores = open.forward(image(i))[0];
          check(Arrays.equals(scores.shape(), new long[] {1, 10}), "shape");
          right += largest(scores) == samples[i * SAMPLE + 64] ? 1 : 0;
        }
        check(right >= 45, "only " + right + " of 50 are right");
      }
    }
  }

  /** As the system numbers it: Java tells nobody. */
  private static int descriptorOf(Path file) throws Exception {
    Path real = file.toRealPath();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Paths.get("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        if (Files.isSymbolicLink(descriptor) && Files.readSymbolicLink(descriptor).equals(real)) {
          return Integer.parseInt(descriptor.getFileName().toString());
        }
      }
    }
    throw new AssertionError(file + " is not open");
  }

  /** A program and its weights behind each other in one file, as in an Android package. */
  private static void takesPartsOfFiles() throws Exception {
    byte[] program = Files.readAllBytes(Paths.get(files, "external.pte"));
    byte[] weights = Files.readAllBytes(Paths.get(files, "external.ptd"));
    Path both = Files.createTempFile("petrel", ".apk");
    int begin = 4096 * 3;
    int middle = begin + (program.length + 4095) / 4096 * 4096;
    byte[] all = new byte[middle + weights.length + 5];
    System.arraycopy(program, 0, all, begin, program.length);
    System.arraycopy(weights, 0, all, middle, weights.length);
    Files.write(both, all);
    for (boolean maps : new boolean[] {true, false}) {
      Module module;
      try (FileInputStream open = new FileInputStream(both.toFile())) {
        check(open.getFD().valid(), "open");
        int descriptor = descriptorOf(both);
        Module.Options options =
            new Module.Options()
                .setMapsFiles(maps)
                .addDataDescriptor(descriptor, middle, weights.length);
        module = Module.load(descriptor, begin, program.length, options);
        refuses(
            "InvalidProgram",
            "",
            () -> Module.load(descriptor, 0, program.length, new Module.Options()));
      }
      classifies(module, 1);
    }
    Files.delete(both);
    refuses("", "", () -> Module.load(-1, 0, 1, new Module.Options()));
    throwsOf(
        IllegalArgumentException.class, () -> Module.load(0, -1, 1, new Module.Options()));
    throwsOf(
        IllegalArgumentException.class,
        () -> new Module.Options().addDataDescriptor(0, 0, -1));
  }

  private static void takesBuffers() throws Exception {
    byte[] program = Files.readAllBytes(Paths.get(files, "inline.pte"));
    ByteBuffer buffer = ByteBuffer.allocate(program.length + 8);
    buffer.position(3);
    buffer.put(program).flip().position(3);
    Module module = Module.load(buffer, new Module.Options());
    Arrays.fill(buffer.array(), (byte) 0);
    check(buffer.position() == 3, "position");
    classifies(module, 1);
    refuses("InvalidProgram", "", () -> Module.load(ByteBuffer.allocate(0), new Module.Options()));
  }

  private static long residentBytes() throws Exception {
    String status = new String(Files.readAllBytes(Paths.get("/proc/self/statm")));
    return Long.parseLong(status.split(" ")[1]) * 4096;
  }

  private static void keepsMemory() throws Exception {
    for (int i = 0; i < 30; i++) classifies(Module.load(files + "/inline.pte"), 1);
    System.gc();
    long before = residentBytes();
    for (int i = 0; i < 200; i++) classifies(Module.load(files + "/inline.pte"), 1);
    System.gc();
    long grown = residentBytes() - before;
    // One module is about 0.5 MB: a leak of each would be 100 MB.
    check(grown < 64L << 20, "200 modules left " + grown + " bytes");
  }

  private static void threadsWaitForEachOther() throws Exception {
    try (Module module = Module.load(files + "/inline.pte")) {
      int[] wanted = new int[50];
      for (int i = 0; i < 50; i++) wanted[i] = largest(module.forward(image(i))[0]);
      Throwable[] failure = new Throwable[1];
      Thread[] threads = new Thread[4];
      for (int t = 0; t < threads.length; t++) {
        threads[t] =
            new Thread(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    check(largest(module.forward(image(i))[0]) == wanted[i], "threads");
                  }
                });
        threads[t].setUncaughtExceptionHandler((thread, thrown) -> failure[0] = thrown);
        threads[t].start();
      }
      for (Thread thread : threads) thread.join();
      check(failure[0] == null, "a thread failed: " + failure[0]);
    }
  }

  private static void takesAnyFileName() throws Exception {
    Path copy = Files.createTempDirectory("petrel").resolve("größe \uD83D\uDC26.pte");
    Files.copy(Paths.get(files, "inline.pte"), copy, StandardCopyOption.REPLACE_EXISTING);
    classifies(Module.load(copy.toString()), 1);
    Files.delete(copy);
  }

  private interface Act {
    void run();
  }

  private static void refuses(String code, String words, Act act) {
    try {
      act.run();
    } catch (PetrelException error) {
      check(code.isEmpty() || error.getCode().equals(code), error.getCode() + ", not " + code + ": " + error);
      check(error.getMessage().contains(words), "'" + error.getMessage() + "' lacks " + words);
      return;
    }
    throw new AssertionError("nothing was thrown where " + code + " was expected");
  }

  private static void saysWhatIsWrong() {
    refuses("NotFound", "none.pte", () -> Module.load("none.pte"));
    refuses("NotFound", "none.ptd", () -> Module.load(files + "/inline.pte", "none.ptd"));
    refuses("InvalidProgram", "", () -> Module.load(files + "/external.ptd"));
    Module module = Module.load(files + "/inline.pte");
    refuses("NotFound", "none", () -> module.execute("none", image(0)));
    refuses("InvalidArgument", "takes 1 inputs, 0", () -> module.forward());
    refuses("InvalidArgument", "takes 1 inputs, 2", () -> module.forward(image(0), image(1)));
    refuses("InvalidArgument", "null", () -> module.forward((Tensor) null));
    refuses(
        "InvalidArgument", "input 0", () -> module.forward(Tensor.fromBlob(new int[64], 1, 1, 8, 8)));
    refuses("NotSupported", "input 0", () -> module.forward(Tensor.fromBlob(new float[16], 1, 1, 4, 4)));
    // After each of these it still works.
    check(largest(module.forward(image(0))[0]) >= 0, "after errors");
    module.close();
    module.close();
    throwsOf(IllegalStateException.class, () -> module.forward(image(0)));
    throwsOf(IllegalArgumentException.class, () -> Module.load("a\0b"));
    throwsOf(IllegalArgumentException.class, () -> new Module.Options().setNumThreads(-1));
  }

  private static void tensorsCheckTheirSizes() {
    throwsOf(IllegalArgumentException.class, () -> Tensor.fromBlob(new float[3], 2, 2));
    throwsOf(IllegalArgumentException.class, () -> Tensor.fromBlob(new float[4], -2, -2));
    throwsOf(IllegalArgumentException.class, () -> Tensor.fromBlob(new float[1], new long[17]));
    throwsOf(
        IllegalArgumentException.class,
        () -> Tensor.fromBlob(new float[0], Long.MAX_VALUE, Long.MAX_VALUE));
    throwsOf(
        IllegalArgumentException.class,
        () -> Tensor.fromBlob(DType.INT64, ByteBuffer.allocate(9), 1));
    throwsOf(
        IllegalStateException.class, () -> Tensor.fromBlob(new int[1], 1).getDataAsFloatArray());
    Tensor longs = Tensor.fromBlob(new long[] {1L << 40, -2}, 2);
    check(Arrays.equals(longs.getDataAsLongArray(), new long[] {1L << 40, -2}), "longs");
    check(Tensor.fromBlob(new byte[] {1, -1}, 2).dtype() == DType.INT8, "bytes");
    check(Tensor.fromBlob(new double[] {}, 0, 3).numel() == 0, "empty");
    check(Tensor.fromBlob(new float[] {7}).shape().length == 0, "scalar");
  }

  private static void throwsOf(Class<? extends Exception> type, Act act) {
    try {
      act.run();
    } catch (RuntimeException error) {
      check(type.isInstance(error), error + " is no " + type);
      return;
    }
    throw new AssertionError("nothing was thrown where " + type + " was expected");
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }
}
