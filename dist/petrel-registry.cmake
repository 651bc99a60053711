# SPDX-License-Identifier: Apache-2.0
#
# petrel_add_registry(NAME
#                     [KERNELS LIBRARY...]     # the first that has a kernel provides it
#                     [BACKENDS BACKEND...]
#                     [PROGRAMS FILE...])
#
# A library NAME that defines default_registry(): the kernels and backends that the programs
# of an app may use. Exactly one is linked into an app. LIBRARY is optimized, portable or a
# function of yours, my::ns::kernels, that returns Span<const Kernel>; BACKEND is xnnpack or
# a function of yours, my::ns::my_backend, that returns Backend. The app links the libraries
# that define your functions. With PROGRAMS, of optimized and portable only the kernels that
# these .pte files call are linked, and other programs are refused. petrel/runtime/executor/registry.h says what they return.

get_filename_component(_petrel_tools "${CMAKE_CURRENT_LIST_DIR}/../../../libexec/petrel" ABSOLUTE)

function(petrel_add_registry name)
  cmake_parse_arguments(arg "" "" "KERNELS;BACKENDS;PROGRAMS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "petrel_add_registry(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(links petrel::core)
  set(declarations "")
  set(kernels "")
  set(backends "")
  set(selections "")
  foreach(library ${arg_KERNELS})
    if(library MATCHES "^(optimized|portable)$")
      list(APPEND links petrel::kernels)
      if(arg_PROGRAMS)
        string(REPLACE "LIBRARY" ${library} selection "${_petrel_selection}")
        string(APPEND selections "${selection}")
        string(APPEND kernels "&::petrel::runtime::${library}_used, ")
        continue()
      endif()
      set(library "petrel::runtime::${library}_kernels")
    elseif(NOT library MATCHES "::")
      message(FATAL_ERROR "petrel_add_registry(${name}): KERNELS has ${library}, must be "
        "optimized, portable or a function in a namespace")
    endif()
    _petrel_declare(declarations "::petrel::runtime::Span<const ::petrel::runtime::Kernel>"
      ${library})
    string(APPEND kernels "&::${library}, ")
  endforeach()
  foreach(backend ${arg_BACKENDS})
    if(backend STREQUAL "xnnpack")
      list(APPEND links petrel::xnnpack)
      set(backend "petrel::backends::xnnpack::xnnpack_backend")
    elseif(NOT backend MATCHES "::")
      message(FATAL_ERROR "petrel_add_registry(${name}): BACKENDS has ${backend}, must be "
        "xnnpack or a function in a namespace")
    endif()
    _petrel_declare(declarations "::petrel::runtime::Backend" ${backend})
    string(APPEND backends "&::${backend}, ")
  endforeach()
  _petrel_array(kernel_array KernelLibrary kKernels "${kernels}")
  _petrel_array(backend_array BackendLibrary kBackends "${backends}")
  if(arg_PROGRAMS)
    _petrel_use(${name} ${arg_PROGRAMS})
    string(CONCAT selections "#include \"petrel/runtime/selection/selection.h\"\n"
      "namespace petrel::runtime {\nnamespace {\nconstexpr std::string_view kUsed[] = {\n"
      "#include \"${name}_used.inc\"\n\"\"};\n}  // namespace\n}  // namespace petrel::runtime\n"
      "${selections}")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}_registry.cc")
  file(GENERATE OUTPUT "${source}" CONTENT
    "#include \"petrel/runtime/executor/registry.h\"\n\n${declarations}${selections}
namespace petrel::runtime {
namespace {
${kernel_array}
${backend_array}
constexpr Registry kRegistry(kKernels, kBackends);
}  // namespace
const Registry& default_registry() { return kRegistry; }
}  // namespace petrel::runtime
")
  add_library(${name} OBJECT "${source}")
  if(arg_PROGRAMS)
    target_sources(${name} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${name}_used.inc")
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
    target_link_options(${name} INTERFACE -Wl,--gc-sections)
  endif()
  list(REMOVE_DUPLICATES links)
  target_link_libraries(${name} PUBLIC ${links})
  # In an archive of the app's, the linker has passed the registry before a library asks for it.
  target_link_libraries(${name} INTERFACE
    "-Wl,--undefined=_ZN6petrel7runtime16default_registryEv")
endfunction()

# The kernels of LIBRARY whose names are in kUsed.
set(_petrel_selection [==[
namespace petrel::runtime {
namespace LIBRARY {
#define PETREL_KERNEL(name, function, outputs) \
  void function(KernelRuntimeContext& context, Span<EValue*> args);
#include "petrel/runtime/kernels/LIBRARY/kernel_list.inc"
#undef PETREL_KERNEL
}  // namespace LIBRARY
namespace {
constexpr Kernel k_LIBRARY[] = {
#define PETREL_KERNEL(name, function, outputs) {name, &LIBRARY::function, outputs},
#include "petrel/runtime/kernels/LIBRARY/kernel_list.inc"
#undef PETREL_KERNEL
};
constexpr auto k_LIBRARY_used = pick<count_used(k_LIBRARY, kUsed)>(k_LIBRARY, kUsed);
Span<const Kernel> LIBRARY_used() { return k_LIBRARY_used.span(); }
}  // namespace
}  // namespace petrel::runtime
]==])

# Writes NAME_used.inc, the names of the kernels that programs call.
function(_petrel_use name)
  set(programs "")
  foreach(program ${ARGN})
    get_filename_component(program "${program}" ABSOLUTE)
    list(APPEND programs "${program}")
  endforeach()
  set(used "${CMAKE_CURRENT_BINARY_DIR}/${name}_used.inc")
  add_custom_command(OUTPUT "${used}"
    COMMAND "${_petrel_tools}/used_kernels" "${used}" ${programs}
    DEPENDS ${programs} VERBATIM)
endfunction()

function(_petrel_declare variable result function)
  string(REGEX REPLACE "::[^:]*$" "" namespace "${function}")
  string(REGEX REPLACE "^.*::" "" plain "${function}")
  set(${variable} "${${variable}}namespace ${namespace} { ${result} ${plain}(); }\n" PARENT_SCOPE)
endfunction()

function(_petrel_array variable type name entries)
  if(entries STREQUAL "")
    set(${variable} "constexpr Span<const ${type}> ${name};" PARENT_SCOPE)
  else()
    set(${variable} "constexpr ${type} ${name}[] = {${entries}};" PARENT_SCOPE)
  endif()
endfunction()
