# Installs the components client and cli of BUILD_DIR, builds QUICKSTART_DIR against it, and runs the program.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
foreach(component client cli)
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --component ${component} --prefix ${WORK_DIR}/installed)
endforeach()

# No public header may need gRPC's or Protobuf's.
file(GLOB_RECURSE headers ${WORK_DIR}/installed/include/*.h)
foreach(header ${headers})
  file(STRINGS ${header} foreign REGEX "#include.*(grpc|protobuf|\\.pb\\.h)")
  if(foreign)
    message(FATAL_ERROR "${header} needs ${foreign}")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${QUICKSTART_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK_DIR}/installed -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/quickstart)
if(NOT output MATCHES "cos \\[131072, 64\\]\ncos of the last position, first pair: -0.81798")
  message(FATAL_ERROR "unexpected output:\n${output}")
endif()

# A header needs nothing before it.
file(GLOB names RELATIVE ${WORK_DIR}/installed/include/posenc ${WORK_DIR}/installed/include/posenc/*.h)
foreach(name async.h client.h fallback.h near_cache.h ops.h verified.h)
  if(NOT EXISTS ${WORK_DIR}/installed/include/posenc/${name})
    message(FATAL_ERROR "${name} is not installed; found: ${names}")
  endif()
endforeach()
string(REPLACE ";" "," names "${names}")
run(${CMAKE_COMMAND} -S ${HEADERS_DIR} -B ${WORK_DIR}/headers -G ${GENERATOR} "-DHEADERS=${names}"
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK_DIR}/installed
    "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/headers)

# The installed program works by itself.
run(${WORK_DIR}/installed/bin/posenc sinusoidal --d-model 4 --rows 0:1 --local)
