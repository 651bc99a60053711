/* SPDX-License-Identifier: Apache-2.0 */
/* The native half of io.petrel: each function does one call of Java with petrel.h.
 *
 * A function that fails has thrown when it returns; nothing is kept between calls but the
 * module behind the handle, which Module.close() gives back. */
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "petrel.h"

#define ANY_THROWN(env) ((*(env))->ExceptionCheck(env))

static jbyteArray bytes_of(JNIEnv* env, const char* text) {
  const jsize size = (jsize)strlen(text);
  const jbyteArray bytes = (*env)->NewByteArray(env, size);
  if (bytes != NULL) (*env)->SetByteArrayRegion(env, bytes, 0, size, (const jbyte*)text);
  return bytes;
}

static void throw_error(JNIEnv* env, const char* code, const char* message) {
  jclass type;
  jmethodID make;
  jbyteArray code_bytes, message_bytes;
  jobject exception;
  if (ANY_THROWN(env)) return;
  type = (*env)->FindClass(env, "io/petrel/PetrelException");
  if (type == NULL) return;
  make = (*env)->GetStaticMethodID(env, type, "of", "([B[B)Lio/petrel/PetrelException;");
  if (make == NULL) return;
  code_bytes = bytes_of(env, code);
  message_bytes = code_bytes == NULL ? NULL : bytes_of(env, message);
  if (message_bytes == NULL) return;
  exception = (*env)->CallStaticObjectMethod(env, type, make, code_bytes, message_bytes);
  if (exception != NULL && !ANY_THROWN(env)) (*env)->Throw(env, (jthrowable)exception);
}

/* True for PETREL_OK; otherwise an exception with the reason is thrown. */
static int passes(JNIEnv* env, petrel_status status) {
  if (status == PETREL_OK) return 1;
  throw_error(env, petrel_status_name(status), petrel_error_text());
  return 0;
}

/* A copy of a text that Java gives with its zero; NULL when an exception is thrown. */
static char* text_of(JNIEnv* env, jbyteArray bytes) {
  const jsize size = (*env)->GetArrayLength(env, bytes);
  char* text = malloc((size_t)size + 1);
  if (text == NULL) {
    throw_error(env, "MemoryAllocationFailed", "there is no memory for a text");
    return NULL;
  }
  (*env)->GetByteArrayRegion(env, bytes, 0, size, (jbyte*)text);
  text[size] = '\0';
  return text;
}

static petrel_module* module_of(jlong handle) { return (petrel_module*)(intptr_t)handle; }

static int add_data(JNIEnv* env, petrel_options* options, jobjectArray data) {
  const jsize count = (*env)->GetArrayLength(env, data);
  jsize i;
  for (i = 0; i < count; ++i) {
    const jbyteArray bytes = (jbyteArray)(*env)->GetObjectArrayElement(env, data, i);
    char* path = text_of(env, bytes);
    const int added = path != NULL && passes(env, petrel_options_add_data_path(options, path));
    free(path);
    (*env)->DeleteLocalRef(env, bytes);
    if (!added) return 0;
  }
  return 1;
}

/* Parts of open files: descriptor, offset and length of each. */
static int add_descriptors(JNIEnv* env, petrel_options* options, jlongArray parts) {
  const jsize count = (*env)->GetArrayLength(env, parts);
  jsize i;
  for (i = 0; i + 2 < count; i += 3) {
    jlong part[3];
    (*env)->GetLongArrayRegion(env, parts, i, 3, part);
    if (!passes(env, petrel_options_add_data_fd(options, (int)part[0], (uint64_t)part[1],
                                                (uint64_t)part[2]))) {
      return 0;
    }
  }
  return 1;
}

/* Of a path, or a buffer, or a part of an open file where both are NULL. */
static petrel_module* load(JNIEnv* env, const petrel_options* options, jbyteArray path,
                           jobject buffer, jlongArray part) {
  petrel_module* module = NULL;
  if (path != NULL) {
    char* text = text_of(env, path);
    if (text != NULL) passes(env, petrel_module_load_path(text, options, &module));
    free(text);
  } else if (buffer != NULL) {
    passes(env, petrel_module_load_buffer((*env)->GetDirectBufferAddress(env, buffer),
                                          (size_t)(*env)->GetDirectBufferCapacity(env, buffer),
                                          PETREL_COPY, options, &module));
  } else {
    jlong found[3];
    (*env)->GetLongArrayRegion(env, part, 0, 3, found);
    passes(env, petrel_module_load_fd((int)found[0], (uint64_t)found[1], (uint64_t)found[2],
                                      options, &module));
  }
  return module;
}

JNIEXPORT jlong JNICALL Java_io_petrel_Module_nativeLoad(JNIEnv* env, jclass type, jbyteArray path,
                                                         jobject buffer, jlongArray part,
                                                         jobjectArray data, jlongArray descriptors,
                                                         jint threads, jboolean maps) {
  petrel_options* options = NULL;
  petrel_module* module = NULL;
  (void)type;
  if (!passes(env, petrel_options_create(&options))) return 0;
  if (passes(env,
             petrel_options_set_load_mode(options, maps ? PETREL_LOAD_MMAP : PETREL_LOAD_FILE)) &&
      (threads < 0 || passes(env, petrel_options_set_num_threads(options, threads))) &&
      add_data(env, options, data) && add_descriptors(env, options, descriptors)) {
    module = load(env, options, path, buffer, part);
  }
  petrel_options_destroy(options);
  return (jlong)(intptr_t)module;
}

JNIEXPORT void JNICALL Java_io_petrel_Module_nativeDestroy(JNIEnv* env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  petrel_module_destroy(module_of(handle));
}

JNIEXPORT jobjectArray JNICALL Java_io_petrel_Module_nativeMethods(JNIEnv* env, jclass type,
                                                                   jlong handle) {
  size_t count = 0, i;
  jclass bytes;
  jobjectArray names;
  (void)type;
  if (!passes(env, petrel_module_num_methods(module_of(handle), &count))) return NULL;
  bytes = (*env)->FindClass(env, "[B");
  if (bytes == NULL) return NULL;
  names = (*env)->NewObjectArray(env, (jsize)count, bytes, NULL);
  if (names == NULL) return NULL;
  for (i = 0; i < count; ++i) {
    const char* name = NULL;
    jbyteArray text;
    if (!passes(env, petrel_module_method_name(module_of(handle), i, &name))) return NULL;
    text = bytes_of(env, name);
    if (text == NULL) return NULL;
    (*env)->SetObjectArrayElement(env, names, (jsize)i, text);
    (*env)->DeleteLocalRef(env, text);
  }
  return names;
}

JNIEXPORT void JNICALL Java_io_petrel_Module_nativeLoadMethod(JNIEnv* env, jclass type,
                                                              jlong handle, jbyteArray method) {
  char* name = text_of(env, method);
  (void)type;
  if (name != NULL) passes(env, petrel_module_load_method(module_of(handle), name));
  free(name);
}

/* The fields of Tensor. */
typedef struct {
  jclass type;
  jfieldID dtype, shape, data;
  jmethodID make;
} tensor_class;

static int find_tensor_class(JNIEnv* env, tensor_class* found) {
  found->type = (*env)->FindClass(env, "io/petrel/Tensor");
  if (found->type == NULL) return 0;
  found->dtype = (*env)->GetFieldID(env, found->type, "dtype", "I");
  if (found->dtype == NULL) return 0;
  found->shape = (*env)->GetFieldID(env, found->type, "shape", "[J");
  if (found->shape == NULL) return 0;
  found->data = (*env)->GetFieldID(env, found->type, "data", "Ljava/nio/ByteBuffer;");
  if (found->data == NULL) return 0;
  found->make = (*env)->GetStaticMethodID(env, found->type, "ofNative", "(I[JI)Lio/petrel/Tensor;");
  return found->make != NULL;
}

/* Copies a tensor between the order of Java, 0, 1, 2, ..., and that of `value`, in which
 * `ordered` lies. */
static void reorder(const petrel_value* value, char* ordered, char* plain, int to_plain) {
  const size_t bytes = petrel_dtype_size(value->dtype);
  const size_t count = bytes == 0 ? 0 : value->nbytes / bytes;
  int64_t strides[PETREL_MAX_RANK], index[PETREL_MAX_RANK] = {0};
  int64_t stride = 1;
  uint32_t d;
  size_t i;
  /* The other sizes of a tensor without elements may be too large for strides. */
  if (count == 0) return;
  for (d = value->rank; d > 0; --d) {
    strides[value->dim_order[d - 1]] = stride;
    stride *= value->sizes[value->dim_order[d - 1]];
  }
  for (i = 0; i < count; ++i) {
    size_t at = 0;
    for (d = 0; d < value->rank; ++d) at += (size_t)(index[d] * strides[d]);
    if (to_plain) {
      memcpy(plain + i * bytes, ordered + at * bytes, bytes);
    } else {
      memcpy(ordered + at * bytes, plain + i * bytes, bytes);
    }
    for (d = value->rank; d > 0 && ++index[d - 1] == value->sizes[d - 1]; --d) index[d - 1] = 0;
  }
}

static int is_plain(const petrel_value* value) {
  uint32_t d;
  for (d = 0; d < value->rank; ++d) {
    if (value->dim_order[d] != d) return 0;
  }
  return 1;
}

/* Sets an input; `*copy` is memory that must stay until the run. */
static int set_input(JNIEnv* env, const tensor_class* tensors, petrel_module* module,
                     const char* method, size_t index, jobject tensor, void** copy) {
  petrel_value info, value;
  jlongArray shape;
  jobject data;
  jlong sizes[PETREL_MAX_RANK] = {0};
  int64_t given[PETREL_MAX_RANK];
  jsize rank, d;
  int is_set;
  if (tensor == NULL) {
    throw_error(env, "InvalidArgument", "an input is null");
    return 0;
  }
  PETREL_VALUE_INIT(&info);
  if (!passes(env, petrel_module_input_info(module, method, index, &info))) return 0;
  shape = (jlongArray)(*env)->GetObjectField(env, tensor, tensors->shape);
  data = (*env)->GetObjectField(env, tensor, tensors->data);
  rank = (*env)->GetArrayLength(env, shape);
  (*env)->GetLongArrayRegion(env, shape, 0, rank, sizes);
  for (d = 0; d < rank; ++d) given[d] = (int64_t)sizes[d];
  value = petrel_const_tensor((*env)->GetIntField(env, tensor, tensors->dtype), (uint32_t)rank,
                              given, (*env)->GetDirectBufferAddress(env, data),
                              (size_t)(*env)->GetDirectBufferCapacity(env, data));
  if (info.kind == PETREL_KIND_TENSOR && info.rank == value.rank && !is_plain(&info)) {
    *copy = malloc(value.nbytes > 0 ? value.nbytes : 1);
    if (*copy == NULL) {
      throw_error(env, "MemoryAllocationFailed", "there is no memory for an input");
      return 0;
    }
    memcpy(value.dim_order, info.dim_order, sizeof value.dim_order);
    reorder(&value, *copy, value.data, 0);
    value.data = *copy;
  }
  is_set = passes(env, petrel_module_set_input(module, method, index, &value));
  (*env)->DeleteLocalRef(env, shape);
  (*env)->DeleteLocalRef(env, data);
  return is_set;
}

/* An input that is set stays until a run: with all of them set anew, none is an old one. */
static int takes(JNIEnv* env, petrel_module* module, const char* method, jsize given) {
  size_t wanted = 0;
  char text[160];
  if (!passes(env, petrel_module_num_inputs(module, method, &wanted))) return 0;
  if (wanted == (size_t)given) return 1;
  snprintf(text, sizeof text, "method '%.64s' takes %zu inputs, %d are given", method, wanted,
           (int)given);
  throw_error(env, "InvalidArgument", text);
  return 0;
}

static jobject output_of(JNIEnv* env, const tensor_class* tensors, const petrel_value* value) {
  jlongArray shape;
  jlong sizes[PETREL_MAX_RANK];
  jobject tensor, data;
  uint32_t d;
  if (value->kind != PETREL_KIND_TENSOR || value->nbytes > INT32_MAX) {
    throw_error(env, "NotSupported",
                value->kind != PETREL_KIND_TENSOR ? "an output is no tensor"
                                                  : "an output is larger than 2 GiB");
    return NULL;
  }
  for (d = 0; d < value->rank; ++d) sizes[d] = (jlong)value->sizes[d];
  shape = (*env)->NewLongArray(env, (jsize)value->rank);
  if (shape == NULL) return NULL;
  (*env)->SetLongArrayRegion(env, shape, 0, (jsize)value->rank, sizes);
  tensor = (*env)->CallStaticObjectMethod(env, tensors->type, tensors->make, (jint)value->dtype,
                                          shape, (jint)value->nbytes);
  if (tensor == NULL || ANY_THROWN(env)) return NULL;
  data = (*env)->GetObjectField(env, tensor, tensors->data);
  if (value->nbytes > 0 && is_plain(value)) {
    memcpy((*env)->GetDirectBufferAddress(env, data), value->data, value->nbytes);
  } else if (value->nbytes > 0) {
    reorder(value, value->data, (*env)->GetDirectBufferAddress(env, data), 1);
  }
  (*env)->DeleteLocalRef(env, data);
  (*env)->DeleteLocalRef(env, shape);
  return tensor;
}

static jobjectArray outputs_of(JNIEnv* env, const tensor_class* tensors, petrel_module* module,
                               const char* method) {
  size_t count = 0, i;
  jobjectArray outputs;
  if (!passes(env, petrel_module_num_outputs(module, method, &count))) return NULL;
  outputs = (*env)->NewObjectArray(env, (jsize)count, tensors->type, NULL);
  if (outputs == NULL) return NULL;
  for (i = 0; i < count; ++i) {
    petrel_value value;
    jobject tensor;
    PETREL_VALUE_INIT(&value);
    if (!passes(env, petrel_module_get_output(module, method, i, &value))) return NULL;
    tensor = output_of(env, tensors, &value);
    if (tensor == NULL) return NULL;
    (*env)->SetObjectArrayElement(env, outputs, (jsize)i, tensor);
    (*env)->DeleteLocalRef(env, tensor);
  }
  return outputs;
}

JNIEXPORT jobjectArray JNICALL Java_io_petrel_Module_nativeExecute(JNIEnv* env, jclass type,
                                                                   jlong handle, jbyteArray method,
                                                                   jobjectArray inputs) {
  petrel_module* const module = module_of(handle);
  const jsize count = (*env)->GetArrayLength(env, inputs);
  char* const name = text_of(env, method);
  void** const copies = calloc((size_t)count + 1, sizeof *copies);
  tensor_class tensors;
  jobjectArray outputs = NULL;
  jsize i, num_set = 0;
  (void)type;
  if (name != NULL && copies == NULL) {
    throw_error(env, "MemoryAllocationFailed", "there is no memory for inputs");
  } else if (name != NULL && takes(env, module, name, count) && find_tensor_class(env, &tensors)) {
    for (; num_set < count; ++num_set) {
      const jobject tensor = (*env)->GetObjectArrayElement(env, inputs, num_set);
      const int is_set =
          set_input(env, &tensors, module, name, (size_t)num_set, tensor, &copies[num_set]);
      (*env)->DeleteLocalRef(env, tensor);
      if (!is_set) break;
    }
    /* `inputs` keeps the tensors alive until here. */
    if (num_set == count && passes(env, petrel_module_run(module, name))) {
      outputs = outputs_of(env, &tensors, module, name);
    }
  }
  for (i = 0; copies != NULL && i < count; ++i) free(copies[i]);
  free(copies);
  free(name);
  return outputs;
}
