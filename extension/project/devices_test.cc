// SPDX-License-Identifier: Apache-2.0
#include "extension/project/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Folders as the kernel has them.
class DevicesTest : public ::testing::Test {
 protected:
  DevicesTest() {
    const char* const temporary = std::getenv("TEST_TMPDIR");
    root_ = fs::path(temporary == nullptr ? "/tmp" : temporary) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(root_ / "class" / "tty");
  }

  void plug(const std::string& port, const std::string& usb, const std::string& serial) {
    const fs::path device = root_ / "devices" / "usb1" / port;
    fs::create_directories(device / "1-1:1.0");
    std::ofstream(device / "idVendor") << usb.substr(0, 4) << "\n";
    std::ofstream(device / "idProduct") << usb.substr(5) << "\n";
    std::ofstream(device / "serial") << serial << "\n";
    std::ofstream(device / "product") << "Board\n";
    fs::create_directories(root_ / "class" / "tty" / port);
    fs::create_symlink(device / "1-1:1.0", root_ / "class" / "tty" / port / "device");
  }

  fs::path root_;
  exir::Board board_;
};

TEST_F(DevicesTest, PortsAreListedWithTheirDevices) {
  plug("ttyACM1", "0d28:0204", "beef");
  plug("ttyACM0", "0483:374b", "cafe");
  fs::create_directories(root_ / "class" / "tty" / "tty0");
  const std::vector<SerialDevice> devices = list_devices(root_);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].port, "/dev/ttyACM0");
  EXPECT_EQ(devices[0].usb, "0483:374b");
  EXPECT_EQ(devices[0].serial, "cafe");
  EXPECT_EQ(devices[0].description, "Board");
  EXPECT_EQ(devices[1].serial, "beef");
}

TEST_F(DevicesTest, OneOfSeveralIsMeantBySerialNumberOrPort) {
  board_.name = "mine";
  board_.usb = {"0d28:0204"};
  plug("ttyACM0", "0d28:0204", "cafe");
  EXPECT_EQ(find_device(board_, "", list_devices(root_))->port, "/dev/ttyACM0");
  plug("ttyACM1", "0d28:0204", "beef");
  plug("ttyUSB0", "0483:374b", "f00d");
  const std::vector<SerialDevice> devices = list_devices(root_);
  EXPECT_EQ(find_device(board_, "beef", devices)->port, "/dev/ttyACM1");
  EXPECT_EQ(find_device(board_, "/dev/ttyACM0", devices)->serial, "cafe");
  const std::string said(find_device(board_, "", devices).status().message());
  EXPECT_THAT(said, HasSubstr("several devices may be board 'mine': there are /dev/ttyACM0 (cafe), "
                              "/dev/ttyACM1 (beef); --device says which"));
}

TEST_F(DevicesTest, NoneOfThemIsToldWithThoseThatThereAre) {
  board_.name = "mine";
  EXPECT_THAT(std::string(find_device(board_, "", list_devices(root_)).status().message()),
              HasSubstr("there is no device for board 'mine': none is plugged in"));
  plug("ttyACM0", "0d28:0204", "cafe");
  EXPECT_THAT(
      std::string(find_device(board_, "beef", list_devices(root_)).status().message()),
      HasSubstr("there is no device 'beef' for board 'mine': there are /dev/ttyACM0 (cafe)"));
}

}  // namespace
}  // namespace petrel::extension
